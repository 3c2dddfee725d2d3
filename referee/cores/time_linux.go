package cores

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/proc"
	"github.com/timba-arena/timba/sandbox"
)

// Of returns what a bot has had of the processors; ok is false where the system does not tell all:
// without a cgroup, the time of a child is lost whose parent ignores its end. Of a bot without a
// sandbox, what Forgets and what is no longer below its first process is for the caller to find out.
func Of(p *sandbox.Process) (t Time, ok bool) {
	file := p.Threads()
	if file == "" {
		pid := p.Pid()
		if pid == 0 {
			return Time{CPU: p.CPU()}, false
		}
		t, ok = OfProcess(pid)
		return t, ok && (p.Level() == sandbox.None || !Forgets(pid))
	}
	list, err := os.ReadFile(file)
	if err != nil { // it has ended
		t.CPU = p.CPU()
		return t, t.CPU > 0
	}
	for _, tid := range bytes.Fields(list) {
		if one, err := ofThread("/proc/" + string(tid)); err == nil {
			t.Alive, t.Waited = t.Alive+one.CPU, t.Waited+one.Waited
		}
	}
	// Last, so that it is not less than what the threads have had.
	t.CPU = p.CPU()
	return t, t.CPU > 0
}

// CPU returns the CPU time of a bot, which is quick to read: without a sandbox that of its first
// process alone, and without a cgroup nothing before its end.
func CPU(p *sandbox.Process) time.Duration {
	if pid := p.Pid(); pid > 0 && p.Level() == sandbox.None {
		return own(pid)
	}
	return p.CPU()
}

// Ready returns the threads of a bot that run or wait for a core.
func Ready(p *sandbox.Process) Threads {
	ready := Threads{}
	file := p.Threads()
	if file == "" {
		if pid := p.Pid(); pid > 0 {
			ready.addBelow(pid)
		}
		return ready
	}
	list, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for _, tid := range bytes.Fields(list) {
		ready.add("/proc/" + string(tid))
	}
	return ready
}

// OfProcess returns what a process and its descendants have had of the processors. Ended ones
// that nobody waited for are missing. ok is false where the system does not tell.
func OfProcess(pid int) (t Time, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	for _, tid := range proc.Numbers(dir + "/task") {
		task := dir + "/task/" + strconv.Itoa(tid)
		one, err := ofThread(task)
		if err != nil {
			continue // it has ended
		}
		ok = true
		t.Alive, t.Waited = t.Alive+one.CPU, t.Waited+one.Waited
	}
	for _, child := range proc.Children(pid) {
		below, _ := OfProcess(child)
		t.CPU, t.Alive, t.Waited = t.CPU+below.CPU, t.Alive+below.Alive, t.Waited+below.Waited
	}
	t.CPU += own(pid) + waitedFor(dir)
	return t, ok
}

// addBelow adds the threads of a process and of its descendants that run or wait for a core.
func (t Threads) addBelow(pid int) {
	for _, pid := range proc.Below(pid) {
		dir := "/proc/" + strconv.Itoa(pid) + "/task/"
		for _, tid := range proc.Numbers(dir) {
			t.add(dir + strconv.Itoa(tid))
		}
	}
}

// add adds the thread of a directory of /proc if it runs or waits for a core.
func (t Threads) add(dir string) {
	if f := proc.Stat(dir); len(f) == 0 || string(f[0]) != "R" {
		return
	}
	if had, err := ofThread(dir); err == nil {
		t[dir] = had.CPU + had.Waited
	}
}

// Forgets reports whether a process or one of its descendants ignores the end of its children,
// so that nobody counts what those have used.
func Forgets(pid int) bool {
	const bit = 1 << (unix.SIGCHLD - 1)
	return slices.ContainsFunc(proc.Below(pid), func(pid int) bool {
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

// ofThread returns the CPU time of a thread and how long it was ready to run and did not;
// Alive is 0. The kernel counts both in nanoseconds.
func ofThread(dir string) (t Time, err error) {
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

// own returns the CPU time of all threads of a process, without its children; 0 if it has ended.
func own(pid int) time.Duration {
	const scheduler = 2 // the kind of clock; clock_getcpuclockid(3) makes the same number
	var ts unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|scheduler), &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// waitedFor returns the CPU time of the ended children of a process.
func waitedFor(dir string) time.Duration {
	f := proc.Stat(dir)
	if len(f) < 15 {
		return 0
	}
	return proc.Ticks(f[13]) + proc.Ticks(f[14])
}
