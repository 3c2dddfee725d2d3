package initproc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"github.com/timba-arena/timba/internal/proc"
	"github.com/timba-arena/timba/sandbox/internal/sys"
)

// usage returns what all processes of the sandbox use. memory is in bytes and includes what the kernel may use for
// the processes. cpu includes the CPU time of processes that have ended, as far as it is known. threads is the number
// of threads.
func (r *reaper) usage() (memory int64, cpu time.Duration, threads int) {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ru) == nil {
		cpu = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	pids := func() []int { return proc.ProcessTree(os.Getpid())[1:] }
	if r.config.HasNamespaces {
		pids = otherProcesses
	}
	// Counting mappings is slow, so it is not done every time. Making many mappings is slow as well.
	count := r.pollCount%4 == 0
	r.pollCount++
	if count {
		clear(r.mappings)
	}
	kernel := kernelMemory{perFile: r.config.PerFile, countedFiles: map[string]bool{}}
	for _, pid := range pids() {
		dir := "/proc/" + strconv.Itoa(pid)
		if status, err := proc.Read(dir + "/status"); err == nil {
			// The kernel's page tables are memory, too, and many small mappings need many.
			memory += (proc.Kilobytes(status, "\nRssAnon:") + proc.Kilobytes(status, "\nRssShmem:") + proc.Kilobytes(status, "\nVmPTE:")) << 10
			threads += int(proc.Kilobytes(status, "\nThreads:"))
		}
		kernel.add(dir, r.config.Limit.OpenFiles)
		if count {
			r.mappings[pid] = mappingsOf(dir) * perMapping
		}
		memory += r.mappings[pid]
		if r.config.Limit.CPU > 0 && r.clock < 0 {
			cpu += proc.CPU(dir)
		}
	}
	if total, ok := r.clock.read(); ok {
		cpu = total
	}
	return memory + kernel.bytes, cpu, threads
}

// otherProcesses returns the PIDs of all processes in the PID namespace of the sandbox except init.
func otherProcesses() (pids []int) {
	for _, pid := range proc.NumericEntries("/proc") {
		if pid != 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// userThreads returns how many threads the user of this process runs on the whole machine.
func userThreads() int {
	n := 0
	uid := uint32(os.Getuid())
	for _, pid := range proc.NumericEntries("/proc") {
		dir := "/proc/" + strconv.Itoa(pid)
		var st syscall.Stat_t
		if syscall.Stat(dir, &st) == nil && st.Uid == uid {
			if f := proc.Stat(dir); len(f) > 17 {
				threads, _ := strconv.Atoi(string(f[17]))
				n += threads
			}
		}
	}
	return n
}

// The kernel memory that a program uses belongs to no process; only a cgroup counts it. Without a cgroup,
// every open file counts as the most memory that the kernel may use for it. The filter of system calls
// denies raising that maximum.

// PerFile is the largest number of bytes of memory that the kernel uses for one open file, by the kind of file.
type PerFile struct{ Socket, Pipe, Poll, Other int64 }

// perMapping is the number of bytes of memory that the kernel uses for one memory mapping of a process.
const perMapping = 256

// kernelMemory adds up the memory that the kernel may use for processes. A socket or pipe that several processes have
// open counts once.
type kernelMemory struct {
	perFile      PerFile
	countedFiles map[string]bool
	bytes        int64
}

// add adds to k the memory that the kernel may use for the open files of one process. dir is the directory of the
// process in /proc. If the open files cannot be listed, add counts maxFiles sockets.
func (k *kernelMemory) add(dir string, maxFiles int) {
	d, err := os.Open(dir + "/fd")
	if errors.Is(err, fs.ErrPermission) {
		k.bytes += int64(maxFiles) * k.perFile.Socket
	}
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var link [64]byte
	for _, name := range names {
		n, err := sys.Readlinkat(int(d.Fd()), name, link[:])
		if err != nil {
			continue
		}
		k.addFile(string(link[:n]))
	}
}

func (k *kernelMemory) addFile(link string) {
	bytes := k.perFile.Other
	switch {
	case link == "anon_inode:[eventpoll]": // all have the same name, so shared ones cannot be recognized
		k.bytes += k.perFile.Poll
		return
	case hasPrefix(link, "socket:["):
		bytes = k.perFile.Socket
	case hasPrefix(link, "pipe:["):
		bytes = k.perFile.Pipe
	default:
		k.bytes += bytes
		return
	}
	if !k.countedFiles[link] {
		k.countedFiles[link] = true
		k.bytes += bytes
	}
}

// mappingsOf returns the number of memory mappings of a process, or 0 if the process has ended. dir is the directory
// of the process in /proc.
func mappingsOf(dir string) (n int64) {
	f, err := os.Open(dir + "/maps")
	if err != nil {
		return 0
	}
	defer f.Close()
	var buf [1 << 14]byte
	for {
		m, err := f.Read(buf[:])
		n += int64(bytes.Count(buf[:m], []byte("\n")))
		if err != nil || m == 0 {
			return n
		}
	}
}

// cpuClock is the file descriptor of a perf event that counts the CPU time of a thread and its descendants. Unlike
// getrusage, it includes processes that have ended without being waited for. It is -1 if the kernel refuses such an
// event, as it does for ordinary users if kernel.perf_event_paranoid is above 2.
type cpuClock int

// newCPUClock starts counting the CPU time of this thread and everything that it starts from now on.
func newCPUClock() cpuClock {
	attr := sys.PerfEventAttr{
		Type:   sys.PERF_TYPE_SOFTWARE,
		Config: sys.PERF_COUNT_SW_TASK_CLOCK,
		Size:   sys.PERF_ATTR_SIZE_VER0,
		Bits:   sys.PerfBitInherit | sys.PerfBitExcludeKernel | sys.PerfBitExcludeHv, // counting the kernel's time explicitly needs more rights; this clock counts it anyway
	}
	fd, err := sys.PerfEventOpen(&attr, 0, -1, -1, sys.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1
	}
	return cpuClock(fd)
}

// read returns the CPU time that was counted so far. It returns false if there is no count because c is -1.
func (c cpuClock) read() (time.Duration, bool) {
	var n uint64
	buf := (*[8]byte)(unsafe.Pointer(&n))[:]
	if c < 0 {
		return 0, false
	}
	if got, err := syscall.Read(int(c), buf); err != nil || got != len(buf) {
		return 0, false
	}
	return time.Duration(n), true
}
