package sandbox

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// usage is what the sandbox uses, as far as init can see: the memory of all its
// processes, with what the kernel may hold for them; their CPU time, of those that
// have ended, too; and the number of their threads.
func (r *reaper) usage() (memory int64, cpu time.Duration, threads int) {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &ru) == nil {
		cpu = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	pids := descendants
	if r.config.Level > Weak {
		pids = others
	}
	r.looks++
	held := holdings{weights: r.config.Weights, seen: map[string]bool{}}
	for _, pid := range pids() {
		folder := "/proc/" + strconv.Itoa(pid)
		if status, err := os.ReadFile(folder + "/status"); err == nil {
			// The tables of many small mappings are memory, too.
			memory += (kilobytes(status, "\nRssAnon:") + kilobytes(status, "\nRssShmem:") + kilobytes(status, "\nVmPTE:")) << 10
			threads += int(kilobytes(status, "\nThreads:"))
		}
		held.add(folder, r.config.Limit.OpenFiles)
		if r.looks%4 == 0 { // it takes long, and to make many takes long, too
			r.mappings[pid] = mappingsOf(folder) * mappingWeight
		}
		memory += r.mappings[pid]
		if r.config.Limit.CPU > 0 && r.clock < 0 {
			cpu += cpuOf(folder)
		}
	}
	if r.looks%4 == 0 {
		r.forget(pids())
	}
	if total, ok := r.clock.read(); ok {
		cpu = total
	}
	return memory + held.bytes, cpu, threads
}

// forget forgets the mappings of processes that have ended.
func (r *reaper) forget(alive []int) {
	for pid := range r.mappings {
		if !slices.Contains(alive, pid) {
			delete(r.mappings, pid)
		}
	}
}

// kilobytes is a number of a status file, in kilobytes where it is a size. Files that are shown to all are not
// counted: many processes share them.
func kilobytes(status []byte, key string) int64 {
	_, rest, _ := bytes.Cut(status, []byte(key))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(line), []byte(" kB"))), 10, 64)
	return n
}

// cpuOf is the CPU time of a process and of its children that have ended; 0 when
// it is gone.
func cpuOf(folder string) time.Duration {
	f := statFields(folder)
	if len(f) < 15 {
		return 0
	}
	ticks := int64(0)
	for _, field := range f[11:15] {
		n, _ := strconv.ParseInt(string(field), 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100) // USER_HZ is 100 everywhere
}

// statFields are the fields of a stat file from the state on: the name before it
// may have spaces and brackets.
func statFields(folder string) [][]byte {
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return nil
	}
	i := bytes.LastIndexByte(stat, ')')
	return bytes.Fields(stat[i+1:])
}

// others are the processes of init's own /proc but init.
func others() (pids []int) {
	for _, pid := range processes("/proc") {
		if pid != 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// processes are the numbers that a folder has entries of.
func processes(folder string) (pids []int) {
	d, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// descendants are the processes below this one, which has made itself the parent
// of all that lose theirs.
func descendants() (pids []int) {
	todo := []int{os.Getpid()}
	for len(todo) > 0 {
		children := childrenOf(todo[0])
		pids, todo = append(pids, children...), append(todo[1:], children...)
	}
	return pids
}

// userThreads is how many threads the calling user has.
func userThreads() int {
	n := 0
	uid := uint32(os.Getuid())
	for _, pid := range processes("/proc") {
		folder := "/proc/" + strconv.Itoa(pid)
		var st unix.Stat_t
		if unix.Stat(folder, &st) == nil && st.Uid == uid {
			if f := statFields(folder); len(f) > 17 {
				threads, _ := strconv.Atoi(string(f[17]))
				n += threads
			}
		}
	}
	return n
}
