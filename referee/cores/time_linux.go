package cores

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

// Bot is a bot as the kernel counts it.
type Bot struct {
	process *sandbox.Process
	tree    tree
}

// NewBot returns a Bot that has been started.
func NewBot(p *sandbox.Process) *Bot { return &Bot{process: p} }

// Time returns what the bot has had of the cores; ok is false where the system does not tell all of it:
// without a cgroup, the time of a child is lost if its parent ignores the end of its children. For a bot
// without a sandbox, the caller has to ask Forgets and to look for processes that have left the tree.
func (b *Bot) Time() (t Time, ok bool) {
	p := b.process
	file := p.Threads()
	if file == "" {
		pid := p.Pid()
		if pid == 0 {
			return Time{CPU: p.CPU()}, false
		}
		b.tree.look(pid)
		t, ok = b.tree.time()
		return t, ok && (p.Level() == sandbox.None || !Forgets(pid))
	}
	list, err := proc.Read(file)
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

// CPU returns the CPU time of the bot's processes, as Time does.
func (b *Bot) CPU() time.Duration {
	if pid := b.process.Pid(); pid > 0 && b.process.Threads() == "" {
		b.tree.look(pid)
		return b.tree.cpu()
	}
	return b.process.CPU()
}

// FirstCPU returns the CPU time of the bot as far as it is quick to read: without a sandbox that of its
// first process alone, and without a cgroup nothing before its end.
func (b *Bot) FirstCPU() time.Duration {
	if pid := b.process.Pid(); pid > 0 && b.process.Level() == sandbox.None {
		return own(pid)
	}
	return b.process.CPU()
}

// Ready returns the threads of the bot that run or wait for a core. Unlike the other methods it may be
// called while another worker reads the bot's time.
func (b *Bot) Ready() Threads {
	ready := Threads{}
	if file := b.process.Threads(); file != "" {
		list, _ := proc.Read(file) // nothing if it has ended
		for _, tid := range bytes.Fields(list) {
			ready.add("/proc/" + string(tid))
		}
	} else if pid := b.process.Pid(); pid > 0 {
		for _, pid := range proc.Below(pid) {
			dir := "/proc/" + strconv.Itoa(pid) + "/task/"
			for _, tid := range proc.Numbers(dir) {
				ready.add(dir + strconv.Itoa(tid))
			}
		}
	}
	return ready
}

// OfProcess returns what a process and its descendants have had of the processors. Ended ones
// that nobody waited for are missing. ok is false where the system does not tell.
func OfProcess(pid int) (t Time, ok bool) {
	var tr tree
	tr.look(pid)
	return tr.time()
}

// tree is a process with its descendants, as they were when the newest process or thread of the
// machine was made. While that is the newest, they can only have become fewer.
type tree struct {
	newest    string
	processes []process // the first one is the root
}

// process is a process of a tree.
type process struct {
	pid       int
	dir       string // in /proc
	threads   []string
	childless bool
	waitedFor time.Duration // the CPU time of its ended children
}

// look finds the processes below a process, if any was made on the machine since the last look.
func (t *tree) look(root int) {
	newest := newest()
	if newest != "" && newest == t.newest && t.processes[0].pid == root {
		return
	}
	t.newest, t.processes = newest, t.processes[:0]
	for below := []int{root}; len(below) > 0; below = below[1:] {
		pid := below[0]
		p := process{pid: pid, dir: "/proc/" + strconv.Itoa(pid), childless: true}
		for _, tid := range proc.Numbers(p.dir + "/task") {
			thread := p.dir + "/task/" + strconv.Itoa(tid)
			p.threads = append(p.threads, thread)
			children := proc.ChildrenOf(thread)
			below, p.childless = append(below, children...), p.childless && len(children) == 0
		}
		p.waitedFor = waitedFor(p.dir)
		t.processes = append(t.processes, p)
	}
}

// kernelsLoad reports whether /proc/loadavg is the kernel's own. In some containers it is that of
// lxcfs, which is made anew every five seconds.
var kernelsLoad = sync.OnceValue(func() bool {
	var fs unix.Statfs_t
	return unix.Statfs("/proc/loadavg", &fs) == nil && fs.Type == unix.PROC_SUPER_MAGIC
})

// newest returns what tells the newest process or thread of the machine from others; "" if that is
// not known.
func newest() string {
	load, err := proc.Read("/proc/loadavg")
	if err != nil || !kernelsLoad() {
		return ""
	}
	return string(load[bytes.LastIndexByte(load, ' ')+1:])
}

// cpu returns the CPU time of the processes, and of their ended children that were waited for.
func (t *tree) cpu() (sum time.Duration) {
	for i := range t.processes {
		p := &t.processes[i]
		had := own(p.pid)
		if had == 0 {
			continue // it has ended, and its parent has its time
		}
		if !p.childless {
			p.waitedFor = waitedFor(p.dir)
		}
		sum += had + p.waitedFor
	}
	return sum
}

// time returns what the processes have had of the cores. ok is false if the root has ended.
func (t *tree) time() (had Time, ok bool) {
	for i, p := range t.processes {
		for _, thread := range p.threads {
			if one, err := ofThread(thread); err == nil { // else it has ended
				had.Alive, had.Waited = had.Alive+one.CPU, had.Waited+one.Waited
				ok = ok || i == 0
			}
		}
	}
	// Last, so that it is not less than what the threads have had.
	had.CPU = t.cpu()
	return had, ok
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
		status, err := proc.Read("/proc/" + strconv.Itoa(pid) + "/status")
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
	data, err := proc.Read(dir + "/schedstat")
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
