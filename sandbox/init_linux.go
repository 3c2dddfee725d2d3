package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/proc"
)

// The names under which this program is started again.
const (
	initName  = "timba-sandbox-init"
	probeName = "timba-sandbox-probe"
)

// The descriptors that an init inherits.
const (
	lifeline   = 3 // a socket: config in, report out; when it closes, all ends
	firstExtra = 4
)

// aside is what init writes when it can no longer be frozen. It is white space before the
// report that follows.
const aside = '\n'

// bind is a path to show.
type bind struct{ Source, Target string }

// config is the configuration of an init.
type config struct {
	Level   Level
	UID     int // to change to; -1: keep, as the root of a user namespace or as the caller
	Path    string
	Argv    []string
	Env     []string
	Dir     string
	Build   bool
	Show    []bind
	Own     *bind // the program's directory
	Limit   Limit
	Home    string  // the writable directory; "" without namespaces
	Group   bool    // a cgroup counts memory
	Weights weights // of open files, if no cgroup counts memory
	// Extra descriptors, in this order:
	Enter int      // lists of threads of cgroups
	Leave []string // what to write to the next ones when the program has started
	Thaw  bool     // the last one thaws the program

	into   int      // the directory outside that a build is copied back to
	copied []string // the paths below it that the build had at its beginning
}

// report is what an init sends at its end.
type report struct {
	Reason Reason
	Wait   uint32 // wait status
	CPU    int64  // nanoseconds
	Peak   int64  // bytes
	Own    int64  // bytes of init
	Step   string
	Errno  int
	Text   string
}

// called reports whether this program has called MaybeInit; otherwise it cannot serve as
// an init when it is started again.
var called atomic.Bool

var errNoInit = errors.New("this program does not call sandbox.MaybeInit first in main")

// An init does not wait for main: initializing the other packages of a large program takes as long
// as setting up the sandbox. Go initializes those before this package that this package imports,
// and others while it waits for them, so what it imports is to need little itself: not net, for one.
func init() {
	if len(os.Args) > 0 && os.Args[0] == initName {
		// Another thread gives up its rights, because it can end,
		// which the first thread of a process cannot.
		runtime.LockOSThread()
		initMain()
	}
}

// MaybeInit must be called first in main and in TestMain: it allows starting this program
// again as a sandbox's init. It does not return in a process that was started to test a
// sandbox. The sandbox asks for a cgroup by d if it has none.
func MaybeInit(d Delegate) {
	delegate = d
	called.Store(true)
	if len(os.Args) > 0 && os.Args[0] == probeName {
		probeMain()
	}
}

// reaper is a running init.
type reaper struct {
	config config
	main   int // the program's own process
	ended  atomic.Bool
	peak   int64
	clock  cpuClock // -1 for none

	looks    int
	mappings map[int]int64 // bytes, by process
}

func initMain() {
	// The program must not inherit other descriptors.
	if err := unix.CloseRange(lifeline, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		finish(report{Reason: NotStarted, Step: "descriptors", Text: err.Error()})
	}
	r := reaper{clock: -1, mappings: map[int]int64{}}
	if err := json.NewDecoder(os.NewFile(lifeline, "lifeline")).Decode(&r.config); err != nil {
		unix.Exit(2) // the referee is gone
	}
	ignoreSignals(r.config.Level)
	go r.watchLifeline()
	oom := raiseOOM()
	type result struct {
		pid int
		err error
	}
	started := make(chan result)
	go func() {
		// Never unlocked: the thread ends with the goroutine. It must, since the program
		// may send signals to threads with the same restrictions.
		runtime.LockOSThread()
		if !r.config.Group && r.config.Limit.CPU > 0 {
			r.clock = newCPUClock()
		}
		pid, err := r.config.run()
		started <- result{pid, err}
	}()
	s := <-started
	if s.err != nil {
		finish(failure(s.err))
	}
	r.main = s.pid
	oom.lower()
	raiseLimits()
	r.stepAside()
	if !r.config.Group {
		go r.poll()
	}
	r.reap()
}

// ignoreSignals protects init from the program's signals, without ignoring any: the
// program would inherit that.
func ignoreSignals(level Level) {
	if level == Weak {
		// A caught signal does not end init. Nobody reads the channel.
		signal.Notify(make(chan os.Signal, 1))
		return
	}
	// The kernel drops signals that the first process of a namespace does not catch, and
	// the Go runtime catches all of them to end. (Notify takes 5 ms for all.)
	for sig := uintptr(1); sig < 65; sig++ {
		var none [4]uint64                                         // SIG_DFL, no flags
		if sig != uintptr(unix.SIGURG) && (sig < 32 || sig > 34) { // the runtime's and the C library's own
			unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
		}
	}
}

// enterGroups moves this thread, and everything that it starts, into the cgroups of the
// configuration. The memory of init itself is that of its first thread, which stays outside.
func (c *config) enterGroups() error {
	for fd := firstExtra; fd < firstExtra+c.Enter; fd++ {
		if _, err := unix.Write(fd, []byte("0")); err != nil {
			return step("cgroup", err)
		}
	}
	return nil
}

// stepAside leaves the cgroup that is frozen with the program, so that init notices the
// end of the lifeline, and closes the program's pipes, so that the referee notices
// their end.
func (r *reaper) stepAside() {
	for fd := firstExtra; fd < firstExtra+r.config.Enter; fd++ {
		unix.Close(fd)
	}
	for i, text := range r.config.Leave {
		fd := firstExtra + r.config.Enter + i
		unix.Write(fd, []byte(text))
		unix.Close(fd)
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err == nil {
			unix.Dup3(null, fd, 0)
		} else {
			unix.Close(fd)
		}
	}
	if r.config.Leave != nil {
		unix.Write(lifeline, []byte{aside})
	}
	// The program must neither inspect nor stop init.
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// watchLifeline ends everything when the referee has ended or requests it.
func (r *reaper) watchLifeline() {
	var buf [1]byte
	for {
		n, err := unix.Read(lifeline, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 {
			break
		}
	}
	r.thaw()
	r.end(report{Reason: Killed})
}

// thaw ends a freeze, so that the program can end: in a v1 freezer not even SIGKILL arrives.
func (r *reaper) thaw() {
	if r.config.Thaw {
		unix.Write(firstExtra+r.config.Enter+len(r.config.Leave), []byte("THAWED"))
	}
}

// reap waits for the program, and for all processes whose parents have ended.
func (r *reaper) reap() {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			r.end(report{Reason: NotStarted, Step: "wait", Text: err.Error()})
		case pid == r.main:
			r.end(report{Reason: Exited, Wait: uint32(ws)})
		}
	}
}

// end ends the remaining processes, copies a build back and sends the report. A second
// caller waits for the end of this process.
func (r *reaper) end(rep report) {
	if r.ended.Swap(true) {
		select {}
	}
	r.killAll()
	if r.config.Build && rep.Reason == Exited && rep.Wait == 0 {
		if err := r.config.keepBuild(); err != nil {
			rep = failure(step("keep the build", err))
		}
	}
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &ru) == nil {
		rep.CPU = ru.Utime.Nano() + ru.Stime.Nano()
		if total, ok := r.clock.read(); ok {
			rep.CPU = int64(total)
		}
		rep.Peak = atomic.LoadInt64(&r.peak)
		var own unix.Rusage // until it executes the program a child has the memory of init
		if unix.Getrusage(unix.RUSAGE_SELF, &own) == nil && ru.Maxrss > own.Maxrss {
			rep.Peak = max(rep.Peak, ru.Maxrss<<10)
		}
	}
	rep.Own = ownMemory("self")
	finish(rep)
}

// killAll ends all processes of the sandbox but this one.
func (r *reaper) killAll() {
	for range 10000 {
		if r.config.Level > Weak {
			unix.Kill(-1, unix.SIGKILL) // the whole pid namespace
		} else {
			for _, pid := range proc.Below(os.Getpid())[1:] {
				unix.Kill(pid, unix.SIGKILL)
			}
		}
		_, err := unix.Wait4(-1, nil, 0, nil)
		if errors.Is(err, unix.ECHILD) {
			return
		}
	}
}

// poll enforces the limits that no cgroup enforces.
func (r *reaper) poll() {
	limit := r.config.Limit
	for !r.ended.Load() {
		memory, cpu, threads := r.usage()
		if memory > atomic.LoadInt64(&r.peak) {
			atomic.StoreInt64(&r.peak, memory)
		}
		switch {
		case r.config.Level == Weak && threads > limit.Processes:
			r.end(report{Reason: ProcessLimit})
		case memory > limit.Memory:
			r.end(report{Reason: MemoryLimit})
		case limit.CPU > 0 && cpu > limit.CPU:
			r.end(report{Reason: CPULimit})
		}
		time.Sleep(pollEvery)
	}
}

// pollEvery is how often poll checks the limits.
const pollEvery = 50 * time.Millisecond

// failure returns the report of an error before the program ran.
func failure(err error) report {
	rep := report{Reason: NotStarted, Step: "start", Text: err.Error()}
	var s *StepError
	if errors.As(err, &s) {
		rep.Step, rep.Text = s.Step, s.Err.Error()
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		rep.Errno = int(errno)
	}
	return rep
}

// finish sends the report and ends this process.
func finish(rep report) {
	if data, err := json.Marshal(rep); err == nil {
		unix.Write(lifeline, data)
	}
	unix.Exit(0) // immediately, with the whole pid namespace
}

// run restricts this thread and starts the program from it.
func (c *config) run() (pid int, err error) {
	if err := c.enterGroups(); err != nil {
		return 0, err
	}
	unix.Umask(0)
	if c.Level > Weak {
		if err := c.buildRoot(); err != nil {
			return 0, err
		}
		if err := unix.Sethostname([]byte("timba")); err != nil {
			return 0, step("hostname", err)
		}
	} else if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, step("subreaper", err)
	}
	unix.Umask(0o022)
	if err := c.setLimits(); err != nil {
		return 0, step("limits", err)
	}
	rules, err := c.landlock()
	if err != nil {
		return 0, step("landlock", err)
	}
	if err := dropRights(c.UID, c.Level > Weak); err != nil {
		return 0, step("rights", err)
	}
	if err := rules.enforce(); err != nil {
		return 0, step("landlock", err)
	}
	if err := filterCalls(c.filter(rules.abi)); err != nil {
		return 0, step("seccomp", err)
	}
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}}
	pid, err = syscall.ForkExec(c.Path, c.Argv, attr)
	if err != nil {
		return 0, step("exec", fmt.Errorf("%s: %w", c.Path, err))
	}
	return pid, nil
}

// oomScore is the file with how likely the kernel is to end a process when the machine
// runs out of memory.
type oomScore struct{ file *os.File }

// raiseOOM makes the kernel end the program before the referee: it inherits our score.
// Without /proc it does nothing.
func raiseOOM() oomScore {
	f, err := os.OpenFile("/proc/self/oom_score_adj", os.O_WRONLY, 0)
	if err != nil {
		return oomScore{}
	}
	f.WriteString("1000")
	return oomScore{f}
}

// lower makes the kernel end the program before init; only root may go below 0.
func (o oomScore) lower() {
	if o.file == nil {
		return
	}
	if _, err := o.file.WriteString("-1000"); err != nil {
		o.file.WriteString("0")
	}
	o.file.Close()
}
