package initproc

import (
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/timba-arena/timba/internal/proc"
)

// usage returns what init can see of the sandbox's usage: the memory of all its
// processes, including what the kernel may use for them; their CPU time, including
// ended ones; and the number of their threads.
func (r *reaper) usage() (memory int64, cpu time.Duration, threads int) {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ru) == nil {
		cpu = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	pids := func() []int { return proc.Below(os.Getpid())[1:] }
	if r.config.Spaces {
		pids = others
	}
	r.looks++
	kernel := kernelMemory{perFile: r.config.PerFile, seen: map[string]bool{}}
	for _, pid := range pids() {
		dir := "/proc/" + strconv.Itoa(pid)
		if status, err := os.ReadFile(dir + "/status"); err == nil {
			// The kernel's tables of many small mappings are memory, too.
			memory += (proc.Kilobytes(status, "\nRssAnon:") + proc.Kilobytes(status, "\nRssShmem:") + proc.Kilobytes(status, "\nVmPTE:")) << 10
			threads += int(proc.Kilobytes(status, "\nThreads:"))
		}
		kernel.add(dir, r.config.Limit.OpenFiles)
		if r.looks%4 == 0 { // counting mappings is slow, but so is making many
			r.mappings[pid] = mappingsOf(dir) * perMapping
		}
		memory += r.mappings[pid]
		if r.config.Limit.CPU > 0 && r.clock < 0 {
			cpu += proc.CPU(dir)
		}
	}
	if r.looks%4 == 0 {
		r.forget(pids())
	}
	if total, ok := r.clock.read(); ok {
		cpu = total
	}
	return memory + kernel.bytes, cpu, threads
}

// forget forgets the mappings of processes that have ended.
func (r *reaper) forget(alive []int) {
	for pid := range r.mappings {
		if !slices.Contains(alive, pid) {
			delete(r.mappings, pid)
		}
	}
}

// others returns the processes in init's own /proc, except init.
func others() (pids []int) {
	for _, pid := range proc.Numbers("/proc") {
		if pid != 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// userThreads returns how many threads the calling user has.
func userThreads() int {
	n := 0
	uid := uint32(os.Getuid())
	for _, pid := range proc.Numbers("/proc") {
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
