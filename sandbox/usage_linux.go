package sandbox

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// usage returns what init can see of the sandbox's usage: the memory of all its
// processes, including what the kernel may use for them; their CPU time, including
// ended ones; and the number of their threads.
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
		dir := "/proc/" + strconv.Itoa(pid)
		if status, err := os.ReadFile(dir + "/status"); err == nil {
			// The kernel's tables of many small mappings are memory, too.
			memory += (kilobytes(status, "\nRssAnon:") + kilobytes(status, "\nRssShmem:") + kilobytes(status, "\nVmPTE:")) << 10
			threads += int(kilobytes(status, "\nThreads:"))
		}
		held.add(dir, r.config.Limit.OpenFiles)
		if r.looks%4 == 0 { // counting mappings is slow, but so is making many
			r.mappings[pid] = mappingsOf(dir) * mappingWeight
		}
		memory += r.mappings[pid]
		if r.config.Limit.CPU > 0 && r.clock < 0 {
			cpu += cpuOf(dir)
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

// kilobytes returns a number of a status file, in kilobytes if it is a size; 0 if it is
// missing.
func kilobytes(status []byte, key string) int64 {
	_, rest, _ := bytes.Cut(status, []byte(key))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(line), []byte(" kB"))), 10, 64)
	return n
}

// cpuOf returns the CPU time of a process and its ended children; 0 if the process has
// ended.
func cpuOf(dir string) time.Duration {
	f := statFields(dir)
	if len(f) < 15 {
		return 0
	}
	total := time.Duration(0)
	for _, field := range f[11:15] {
		total += ticks(field)
	}
	return total
}

// ticks returns a time that the kernel tells in ticks.
func ticks(field []byte) time.Duration {
	n, _ := strconv.ParseInt(string(field), 10, 64)
	return time.Duration(n) * Tick
}

// statFields returns the fields of a stat file from the state on. The name before it may
// have spaces and brackets.
func statFields(dir string) [][]byte {
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return nil
	}
	i := bytes.LastIndexByte(stat, ')')
	return bytes.Fields(stat[i+1:])
}

// others returns the processes in init's own /proc, except init.
func others() (pids []int) {
	for _, pid := range processes("/proc") {
		if pid != 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// processes returns the entries of a directory that are numbers.
func processes(dir string) (pids []int) {
	d, err := os.Open(dir)
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

// descendants returns the descendants of this process, which is the subreaper of all
// orphans.
func descendants() (pids []int) {
	todo := []int{os.Getpid()}
	for len(todo) > 0 {
		children := childrenOf(todo[0])
		pids, todo = append(pids, children...), append(todo[1:], children...)
	}
	return pids
}

// userThreads returns how many threads the calling user has.
func userThreads() int {
	n := 0
	uid := uint32(os.Getuid())
	for _, pid := range processes("/proc") {
		dir := "/proc/" + strconv.Itoa(pid)
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil && st.Uid == uid {
			if f := statFields(dir); len(f) > 17 {
				threads, _ := strconv.Atoi(string(f[17]))
				n += threads
			}
		}
	}
	return n
}
