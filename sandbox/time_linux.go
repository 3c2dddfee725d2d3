package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Time returns what the sandbox has had of the processors; ok is false where the system
// does not tell all: without a cgroup, the time of a child is lost whose parent ignores its end.
func (p *Process) Time() (t Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.gone:
		return Time{CPU: p.status.Usage.CPU}, p.group != nil
	case p.group == nil:
		if p.init != nil {
			t, ok = TimeOf(p.init.Pid)
			ok = ok && !Forgets(p.init.Pid)
		}
		return t, ok
	}
	list, err := os.ReadFile(p.group.threads())
	if err != nil {
		return t, false
	}
	for _, tid := range bytes.Fields(list) {
		if one, err := timeOfThread("/proc/" + string(tid)); err == nil {
			t.add(one)
		}
	}
	// Last, so that it is not less than what the threads have had.
	t.Alive, t.CPU = t.CPU, p.group.cpu()
	return t, t.CPU > 0
}

// TimeOf returns what a process and its descendants have had of the processors. Ended ones
// that nobody waited for are missing. ok is false where the system does not tell.
func TimeOf(pid int) (t Time, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	for _, tid := range processes(dir + "/task") {
		task := dir + "/task/" + strconv.Itoa(tid)
		one, err := timeOfThread(task)
		if err != nil {
			continue // it has ended
		}
		ok = true
		t.Alive, t.Waited = t.Alive+one.CPU, t.Waited+one.Waited
	}
	for _, child := range childrenOf(pid) {
		below, _ := TimeOf(child)
		t.add(below)
	}
	t.CPU += processTime(pid) + waitedFor(dir)
	return t, ok
}

// Ready reports whether a thread of the sandbox runs or is ready to run.
func (p *Process) Ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return false
	}
	if p.group == nil {
		return p.init != nil && Ready(p.init.Pid)
	}
	list, err := os.ReadFile(p.group.threads())
	if err != nil {
		return false
	}
	return slices.ContainsFunc(bytes.Fields(list), func(tid []byte) bool { return isReady("/proc/" + string(tid)) })
}

// Ready reports whether a thread of a process or of its descendants runs or is ready to run.
func Ready(pid int) bool {
	return slices.ContainsFunc(Below(pid), func(pid int) bool {
		dir := "/proc/" + strconv.Itoa(pid) + "/task/"
		return slices.ContainsFunc(processes(dir), func(tid int) bool { return isReady(dir + strconv.Itoa(tid)) })
	})
}

func isReady(dir string) bool {
	f := statFields(dir)
	return len(f) > 0 && string(f[0]) == "R"
}

// Below returns a process and its descendants.
func Below(pid int) []int {
	pids := []int{pid}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, childrenOf(pids[i])...)
	}
	return pids
}

// Forgets reports whether a process or one of its descendants ignores the end of its children,
// so that nobody counts what those have used.
func Forgets(pid int) bool {
	const bit = 1 << (unix.SIGCHLD - 1)
	return slices.ContainsFunc(Below(pid), func(pid int) bool {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		if err != nil {
			return false
		}
		_, rest, _ := bytes.Cut(status, []byte("\nSigIgn:"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		ignored, _ := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 64)
		return ignored&bit != 0
	})
}

// Quotas returns the files cpu.stat of the cgroups of this program, from its own upwards, that
// limit how much of the processors it may use.
func Quotas() (files []string) {
	v1, unified, err := ownGroups()
	if err != nil {
		return nil
	}
	for _, h := range []struct{ dir, file, none string }{{unified, "cpu.max", "max"}, {v1["cpu"], "cpu.cfs_quota_us", "-1"}} {
		for dir := h.dir; len(dir) > 1; dir = filepath.Dir(dir) {
			limit, err := os.ReadFile(filepath.Join(dir, h.file))
			if err == nil && !bytes.HasPrefix(limit, []byte(h.none)) {
				files = append(files, filepath.Join(dir, "cpu.stat"))
			}
		}
	}
	return files
}

// Held returns for how long a cgroup held its processes back because of its quota; file is
// its cpu.stat.
func Held(file string) time.Duration {
	if us := event(file, "throttled_usec"); us > 0 {
		return time.Duration(us) * time.Microsecond
	}
	return time.Duration(event(file, "throttled_time")) // in version 1
}

// TimeOfThread returns what one thread of this program has had of the processors.
func TimeOfThread(tid int) (Time, error) {
	return timeOfThread("/proc/self/task/" + strconv.Itoa(tid))
}

// timeOfThread returns the CPU time of a thread and how long it was ready to run and did not;
// Alive is 0. The kernel counts both in nanoseconds.
func timeOfThread(dir string) (t Time, err error) {
	data, err := os.ReadFile(dir + "/schedstat")
	if err != nil {
		return t, err
	}
	var n [2]int64
	f := bytes.Fields(data)
	for i := range min(len(n), len(f)) {
		if n[i], err = strconv.ParseInt(string(f[i]), 10, 64); err != nil {
			return t, err
		}
	}
	return Time{CPU: time.Duration(n[0]), Waited: time.Duration(n[1])}, nil
}

// processTime returns the CPU time of all threads of a process, in nanoseconds; 0 if it has
// ended.
func processTime(pid int) time.Duration {
	const scheduler = 2 // the kind of clock; clock_getcpuclockid(3) makes the same number
	var ts unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|scheduler), &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// waitedFor returns the CPU time of the ended children of a process.
func waitedFor(dir string) time.Duration {
	f := statFields(dir)
	if len(f) < 15 {
		return 0
	}
	return ticks(f[13]) + ticks(f[14])
}
