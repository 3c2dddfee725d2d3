package fairclock

import (
	"bytes"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/proc"
	"github.com/timba-arena/timba/sandbox"
)

// Processes reads what the kernel has counted for the processes of one bot. It implements Counters.
type Processes struct {
	process *sandbox.Process
	tree    tree
}

// NewProcesses returns the Processes of a bot that was started as p.
func NewProcesses(p *sandbox.Process) *Processes { return &Processes{process: p} }

// Usage implements Counters. Without a cgroup, it adds up the bot's first process and its descendants. ok is false if
// one of these processes ignores SIGCHLD, because the kernel then does not count what its children used.
func (b *Processes) Usage() (u Usage, ok bool) {
	p := b.process
	file := p.ThreadsFile()
	if file == "" {
		pid := p.Pid()
		if pid == 0 {
			return Usage{CPU: p.CPU()}, false
		}
		b.tree.update(pid)
		u, ok = b.tree.usage()
		return u, ok && !b.tree.ignoresChildren()
	}
	list, err := proc.Read(file)
	if err != nil { // it has ended
		u.CPU = p.CPU()
		return u, u.CPU > 0
	}
	for _, tid := range bytes.Fields(list) {
		if one, err := usageOf("/proc/" + string(tid)); err == nil {
			u.AliveCPU, u.Wait = u.AliveCPU+one.CPU, u.Wait+one.Wait
		}
	}
	// Last, so that it is not less than what the threads have had.
	u.CPU = p.CPU()
	return u, u.CPU > 0
}

// CPU implements Counters.
func (b *Processes) CPU() time.Duration {
	if pid := b.process.Pid(); pid > 0 && b.process.ThreadsFile() == "" {
		b.tree.update(pid)
		return b.tree.cpu()
	}
	return b.process.CPU()
}

// QuickCPU implements Counters. Without a sandbox it counts only the first process. In a sandbox without a cgroup it
// is 0 until that process ends.
func (b *Processes) QuickCPU() time.Duration {
	if pid := b.process.Pid(); pid > 0 && b.process.Level() == sandbox.LevelNone {
		return cpuOf(pid)
	}
	return b.process.CPU()
}

// Ready implements Counters.
func (b *Processes) Ready() Threads {
	ready := Threads{}
	if file := b.process.ThreadsFile(); file != "" {
		list, _ := proc.Read(file) // nothing if it has ended
		for _, tid := range bytes.Fields(list) {
			ready.add("/proc/" + string(tid))
		}
	} else if pid := b.process.Pid(); pid > 0 {
		for _, pid := range proc.ProcessTree(pid) {
			dir := "/proc/" + strconv.Itoa(pid) + "/task/"
			for _, tid := range proc.NumericEntries(dir) {
				ready.add(dir + strconv.Itoa(tid))
			}
		}
	}
	return ready
}

// tree is a process with its descendants, as of the last call of update. It may contain processes that have ended
// since.
type tree struct {
	newest    string
	processes []process // the first one is the root
}

// process is one process of a tree.
type process struct {
	pid         int
	dir         string // directory in /proc
	threads     []string
	childless   bool
	childrenCPU time.Duration // CPU time of its children that have ended
}

// update makes t the tree of the process root and its present descendants. It does nothing if no process or thread
// was created on the machine since the last call.
func (t *tree) update(root int) {
	newest := lastProcess()
	if newest != "" && newest == t.newest && t.processes[0].pid == root {
		return
	}
	t.newest, t.processes = newest, t.processes[:0]
	for below := []int{root}; len(below) > 0; below = below[1:] {
		pid := below[0]
		p := process{pid: pid, dir: "/proc/" + strconv.Itoa(pid), childless: true}
		for _, tid := range proc.NumericEntries(p.dir + "/task") {
			thread := p.dir + "/task/" + strconv.Itoa(tid)
			p.threads = append(p.threads, thread)
			children := proc.ChildrenOf(thread)
			below, p.childless = append(below, children...), p.childless && len(children) == 0
		}
		p.childrenCPU = childrenCPU(p.dir)
		t.processes = append(t.processes, p)
	}
}

// kernelsLoad reports whether /proc/loadavg comes directly from the kernel. In some containers lxcfs replaces the
// file, and updates it only every five seconds.
var kernelsLoad = sync.OnceValue(func() bool {
	var fs unix.Statfs_t
	return unix.Statfs("/proc/loadavg", &fs) == nil && fs.Type == unix.PROC_SUPER_MAGIC
})

// lastProcess returns the ID of the process or thread that was created last, from /proc/loadavg. It returns "" if
// that file cannot be read or does not come from the kernel.
func lastProcess() string {
	load, err := proc.Read("/proc/loadavg")
	if err != nil || !kernelsLoad() {
		return ""
	}
	return string(load[bytes.LastIndexByte(load, ' ')+1:])
}

// cpu returns the CPU time of all processes of the tree, and of their children that have ended and were waited for.
func (t *tree) cpu() (sum time.Duration) {
	for i := range t.processes {
		p := &t.processes[i]
		had := cpuOf(p.pid)
		if had == 0 {
			continue // it has ended, and its time is counted for its parent
		}
		if !p.childless {
			p.childrenCPU = childrenCPU(p.dir)
		}
		sum += had + p.childrenCPU
	}
	return sum
}

// usage returns the CPU time of all processes of the tree, and the time for which they have waited for a core. ok is
// false if the root process has ended.
func (t *tree) usage() (u Usage, ok bool) {
	for i, p := range t.processes {
		for _, thread := range p.threads {
			if one, err := usageOf(thread); err == nil { // else it has ended
				u.AliveCPU, u.Wait = u.AliveCPU+one.CPU, u.Wait+one.Wait
				ok = ok || i == 0
			}
		}
	}
	// Last, so that it is not less than what the threads have had.
	u.CPU = t.cpu()
	return u, ok
}

// add adds a thread to t if it runs or waits for a core. dir is the thread's directory in /proc.
func (t Threads) add(dir string) {
	if f := proc.Stat(dir); len(f) == 0 || string(f[0]) != "R" {
		return
	}
	if had, err := usageOf(dir); err == nil {
		t[dir] = had.CPU + had.Wait
	}
}

// ignoresChildren reports whether a process of the tree ignores SIGCHLD. The kernel then does not count what the
// children of that process used.
func (t *tree) ignoresChildren() bool {
	const bit = 1 << (unix.SIGCHLD - 1)
	return slices.ContainsFunc(t.processes, func(p process) bool {
		status, _ := proc.Read(p.dir + "/status") // nothing if it has ended
		_, rest, _ := bytes.Cut(status, []byte("\nSigIgn:"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		ignored, _ := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 64)
		return ignored&bit != 0
	})
}

// usageOf returns the CPU time of a thread and the time that it has waited for a core. dir is the thread's directory
// in /proc.
func usageOf(dir string) (u Usage, err error) {
	data, err := proc.Read(dir + "/schedstat")
	if err != nil {
		return u, err
	}
	var n [2]int64
	f := bytes.Fields(data)
	for i := range min(len(n), len(f)) {
		if n[i], err = strconv.ParseInt(string(f[i]), 10, 64); err != nil {
			return u, err
		}
	}
	return Usage{CPU: time.Duration(n[0]), Wait: time.Duration(n[1])}, nil
}

// cpuOf returns the CPU time of all threads of a process, or 0 if the process has ended. It does not include the
// children of the process.
func cpuOf(pid int) time.Duration {
	const scheduler = 2 // the kind of clock; clock_getcpuclockid(3) returns the same number
	var ts unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|scheduler), &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// childrenCPU returns the CPU time of the children of a process that have ended. dir is the directory of the process
// in /proc.
func childrenCPU(dir string) time.Duration {
	f := proc.Stat(dir)
	if len(f) < 15 {
		return 0
	}
	return proc.Ticks(f[13]) + proc.Ticks(f[14])
}
