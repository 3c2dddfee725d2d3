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
)

// The names under which this program is started again.
const (
	initName  = "timba-sandbox-init"
	probeName = "timba-sandbox-probe"
)

// The descriptors that an init finds.
const (
	lifeline   = 3 // a socket: config in, report out; its end is the end of all
	firstExtra = 4
)

// aside is what init writes when it can no longer be frozen. It is white space to
// the report that comes after it.
const aside = '\n'

// bind is a path to show.
type bind struct{ Source, Target string }

// config is what an init is told.
type config struct {
	Level   Level
	UID     int // to become; -1: stay, as the root of a user namespace or as oneself
	Path    string
	Argv    []string
	Env     []string
	Dir     string
	Build   bool
	Show    []bind
	Folder  *bind // the program's own
	Limit   Limit
	Home    string  // what can be written to; "" without namespaces
	Group   bool    // a cgroup counts memory
	Weights weights // of open files where none does
	// Extra descriptors, in this order:
	Enter int      // lists of threads of cgroups
	Leave []string // what to write to the next ones when the program has started
	Thaw  bool     // the last one thaws the program

	into int // the folder outside that what is built goes back to
}

// report is what an init tells at its end.
type report struct {
	Reason Reason
	Wait   uint32 // wait status
	CPU    int64  // nanoseconds
	Peak   int64  // bytes
	Step   string
	Errno  int
	Text   string
}

// called tells whether this program calls MaybeInit, without which starting
// itself again would be something else.
var called atomic.Bool

// An init does not wait for main: what other packages of a large program set up
// before that takes as long as all the walls.
func init() {
	if len(os.Args) > 0 && os.Args[0] == initName {
		// So that the thread that gives up its rights is another one: it can end,
		// which the first thread of a process cannot.
		runtime.LockOSThread()
		initMain()
	}
}

// MaybeInit is called first thing in main, and in TestMain: it says that this
// program may be started again as a sandbox's init, and where it was started to
// look out of a sandbox it never returns.
func MaybeInit() {
	called.Store(true)
	if len(os.Args) > 0 && os.Args[0] == probeName {
		probeMain()
	}
}

// reaper is an init at work.
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
	// What was inherited by accident must not reach the program.
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
	if err := enterGroups(min(1, r.config.Enter)); err != nil { // memory is counted by a process's first thread
		finish(failure(err))
	}
	type result struct {
		pid int
		err error
	}
	started := make(chan result)
	go func() {
		// For good: the thread ends with the goroutine. It must, since the program
		// may send signals to whoever is behind the same walls.
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

// ignoreSignals makes that no signal of the program's ends us, without ignoring
// any, which the program would inherit.
func ignoreSignals(level Level) {
	if level == Weak {
		// One that is caught does not. Nobody reads the channel: what does not fit is
		// dropped.
		signal.Notify(make(chan os.Signal, 1))
		return
	}
	// The kernel drops what the first process of a namespace does not catch, and
	// the Go runtime catches all to end itself. (Notify takes it 5 ms for all.)
	for sig := uintptr(1); sig < 65; sig++ {
		var none [4]uint64                                         // SIG_DFL, no flags
		if sig != uintptr(unix.SIGURG) && (sig < 32 || sig > 34) { // the runtime's and the C library's own
			unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
		}
	}
}

// enterGroups moves this thread into the first n cgroups that init was given, and
// with it whatever it starts.
func enterGroups(n int) error {
	for fd := firstExtra; fd < firstExtra+n; fd++ {
		if _, err := unix.Write(fd, []byte("0")); err != nil {
			return step("cgroup", err)
		}
	}
	return nil
}

// stepAside leaves the cgroup that is frozen with the program, so that the end
// of the lifeline is noticed, and lets go of the program's pipes, so that their
// end is.
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
	// The program must not look into us, nor stop us.
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// watchLifeline ends everything when the referee is gone or wants it.
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

// thaw lets the program die: in a v1 freezer not even SIGKILL arrives.
func (r *reaper) thaw() {
	if r.config.Thaw {
		unix.Write(firstExtra+r.config.Enter+len(r.config.Leave), []byte("THAWED"))
	}
}

// reap waits for the program, and for all whose parents have ended.
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

// end ends what is left, keeps what was built and tells. Who comes second waits
// for the end.
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
		rep.Peak = max(atomic.LoadInt64(&r.peak), ru.Maxrss<<10)
	}
	finish(rep)
}

// killAll ends all processes of the sandbox but this one.
func (r *reaper) killAll() {
	for range 10000 {
		if r.config.Level > Weak {
			unix.Kill(-1, unix.SIGKILL) // the whole pid namespace
		} else {
			for _, pid := range descendants() {
				unix.Kill(pid, unix.SIGKILL)
			}
		}
		_, err := unix.Wait4(-1, nil, 0, nil)
		if errors.Is(err, unix.ECHILD) {
			return
		}
	}
}

// poll holds the limits that no cgroup holds.
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

// pollEvery is how often limits are looked at that nothing else holds.
const pollEvery = 50 * time.Millisecond

// failure is a report of what went wrong before the program ran.
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

// finish tells the referee and is the end of this process.
func finish(rep report) {
	if data, err := json.Marshal(rep); err == nil {
		unix.Write(lifeline, data)
	}
	unix.Exit(0) // at once, with all of the pid namespace
}

// run makes the walls around this thread and starts the program from it.
func (c *config) run() (pid int, err error) {
	if err := enterGroups(c.Enter); err != nil {
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

// oomScore is how likely the kernel is to end a process when the machine is out
// of memory.
type oomScore struct{ file *os.File }

// raiseOOM makes that the program goes before the referee does: it inherits our
// score. A machine without /proc goes without.
func raiseOOM() oomScore {
	f, err := os.OpenFile("/proc/self/oom_score_adj", os.O_WRONLY, 0)
	if err != nil {
		return oomScore{}
	}
	f.WriteString("1000")
	return oomScore{f}
}

// lower makes that the program goes before us; only root may go below 0.
func (o oomScore) lower() {
	if o.file == nil {
		return
	}
	if _, err := o.file.WriteString("-1000"); err != nil {
		o.file.WriteString("0")
	}
	o.file.Close()
}
