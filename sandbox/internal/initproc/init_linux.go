// Package initproc implements init, the first process of a sandbox. One thread of init gives up its rights and
// starts the program. The others keep their rights: they wait until the program ends, kill all processes that it
// started, and report how it ended. The calling program becomes init when it starts itself under the name Name.
//
// Init runs in the init function of this package, as early as possible. Go initializes a package when all its
// imports are initialized, and otherwise in the order of the import paths. So this package must not import
// fmt, strings or x/sys/unix, which need dozens of other packages.
package initproc

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/timba-arena/timba/internal/proc"
	"github.com/timba-arena/timba/sandbox/internal/sys"
)

// Name is the value of os.Args[0] with which this program starts itself as the init process of a sandbox.
const Name = "timba-sandbox-init"

// The file descriptors that the init process inherits in addition to 0, 1 and 2.
const (
	lifeline   = 3 // socket for the Config and the Report; when the other end closes, init kills all processes
	firstExtra = 4 // first of the descriptors that Config.EnterCount, LeaveTexts and CanThaw describe
)

func init() {
	if len(os.Args) > 0 && os.Args[0] == Name {
		// The first thread of a process cannot end. Therefore it stays here, and another thread gives up its rights.
		runtime.LockOSThread()
		initMain()
	}
}

// reaper is the state of the sandbox's init process.
type reaper struct {
	config   Config
	lifeline *os.File // stored here because the descriptor of a garbage-collected file is closed
	mainPid  int      // PID of the program
	isEnding atomic.Bool
	clock    cpuClock // -1 if there is none

	pollCount int
	mappings  map[int]int64 // by PID, memory in bytes that the kernel needs for the mappings of the process
}

func initMain() {
	// The program must not inherit any other descriptors.
	if err := sys.CloseRange(lifeline, ^uint(0), sys.CLOSE_RANGE_CLOEXEC); err != nil {
		finish(failure(wrap("descriptors", err)))
	}
	r := reaper{lifeline: os.NewFile(lifeline, "lifeline"), clock: -1, mappings: map[int]int64{}}
	if err := r.config.read(r.lifeline); err != nil {
		syscall.Exit(2) // the calling process has ended
	}
	surviveSignals(r.config.HasNamespaces)
	go r.awaitLifelineEnd()
	oom := raiseOOM()
	var err error
	started := make(chan struct{})
	go func() {
		// The goroutine never unlocks the thread, so that the thread ends with it. It must end, because the
		// program may send signals to threads that have the same restrictions.
		runtime.LockOSThread()
		if !r.config.HasCgroup && r.config.Limit.CPU > 0 {
			r.clock = newCPUClock()
		}
		r.mainPid, err = r.config.run()
		close(started)
	}()
	<-started
	if err != nil {
		finish(failure(err))
	}
	lowerOOM(oom)
	raiseLimits()
	r.leaveGroup()
	if !r.config.HasCgroup {
		go r.poll()
	}
	r.reap()
}

// surviveSignals prevents signals that the program sends from ending init. hasNamespaces says whether init is the
// first process of a PID namespace. If it is, surviveSignals removes the handlers of signals, because the kernel then
// drops the signals. Otherwise it catches the signals. It does not ignore them, because the program would inherit
// that.
func surviveSignals(hasNamespaces bool) {
	if !hasNamespaces {
		// A signal that is caught does not end init. Nobody reads the channel.
		signal.Notify(make(chan os.Signal, 1))
		return
	}
	// The kernel drops signals to the first process of a PID namespace unless the process has a handler for them. The
	// Go runtime has a handler for every signal, which would end init. (signal.Notify for all signals takes 5 ms.)
	for sig := uintptr(1); sig < 65; sig++ {
		var none [4]uint64                                            // SIG_DFL without flags
		if sig != uintptr(syscall.SIGURG) && (sig < 32 || sig > 34) { // these are used by the Go runtime and the C library
			syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
		}
	}
}

// enterGroups moves this thread, and so every process that it starts, into the sandbox's cgroups of version 1. The
// memory of init does not count there: the kernel counts it for init's first thread, which stays outside.
func (c *Config) enterGroups() error {
	for fd := firstExtra; fd < firstExtra+c.EnterCount; fd++ {
		if _, err := syscall.Write(fd, []byte("0")); err != nil {
			return wrap("cgroup", err)
		}
	}
	return nil
}

// leaveGroup moves init out of the cgroup in which the program can be frozen. A frozen init would not notice that the
// calling process has ended. leaveGroup also closes init's copies of the program's stdin, stdout and stderr;
// otherwise the calling process would not notice when the program closes them.
func (r *reaper) leaveGroup() {
	for fd := firstExtra; fd < firstExtra+r.config.EnterCount; fd++ {
		syscall.Close(fd)
	}
	for i, text := range r.config.LeaveTexts {
		fd := firstExtra + r.config.EnterCount + i
		syscall.Write(fd, []byte(text))
		syscall.Close(fd)
	}
	null, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	for fd := range 3 {
		if err == nil {
			syscall.Dup3(null, fd, 0)
		} else {
			syscall.Close(fd)
		}
	}
	if r.config.LeaveTexts != nil {
		syscall.Write(lifeline, []byte{LeftGroup})
	}
	// The program must not be able to inspect or stop init.
	sys.Prctl(syscall.PR_SET_DUMPABLE, 0)
}

// awaitLifelineEnd waits until the process that started the sandbox has ended or has shut down its end of the socket
// to init. Then it kills all processes of the sandbox and exits.
func (r *reaper) awaitLifelineEnd() {
	var buf [1]byte
	for {
		n, err := syscall.Read(lifeline, buf[:])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if n <= 0 {
			break
		}
	}
	r.thaw()
	r.endSandbox(Report{End: Killed})
}

// thaw resumes the program if it is frozen by a cgroup of version 1. A process that is frozen in this way does not
// even react to SIGKILL.
func (r *reaper) thaw() {
	if r.config.CanThaw {
		syscall.Write(firstExtra+r.config.EnterCount+len(r.config.LeaveTexts), []byte("THAWED"))
	}
}

// reap waits for processes that end, and exits when the program has ended. It never returns.
func (r *reaper) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			r.endSandbox(failure(wrap("wait", err)))
		case pid == r.mainPid:
			r.endSandbox(Report{End: Exited, Wait: uint32(ws)})
		}
	}
}

// endSandbox kills the remaining processes, copies the result of a build back, sends the report rep, and exits. If
// another thread calls it meanwhile, that call blocks until this process ends.
func (r *reaper) endSandbox(rep Report) {
	if r.isEnding.Swap(true) {
		select {}
	}
	r.killAll()
	if r.config.Build && rep.End == Exited && rep.Wait == 0 {
		if err := r.config.returnBuild(); err != nil {
			rep = failure(wrap("keep the build", err))
		}
	}
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ru) == nil {
		rep.CPU = ru.Utime.Nano() + ru.Stime.Nano()
		if total, ok := r.clock.read(); ok {
			rep.CPU = int64(total)
		}
	}
	finish(rep)
}

// killAll kills all processes of the sandbox except init, and waits until they have ended.
func (r *reaper) killAll() {
	for range 10000 {
		if r.config.HasNamespaces {
			syscall.Kill(-1, syscall.SIGKILL) // all of the PID namespace
		} else {
			for _, pid := range proc.ProcessTree(os.Getpid())[1:] {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		_, err := syscall.Wait4(-1, nil, 0, nil)
		if errors.Is(err, syscall.ECHILD) {
			return
		}
	}
}

// poll regularly checks the limits that the kernel does not enforce without a cgroup, and ends the sandbox if one
// is exceeded.
func (r *reaper) poll() {
	limit := r.config.Limit
	for !r.isEnding.Load() {
		memory, cpu, threads := r.usage()
		switch {
		case !r.config.HasNamespaces && threads > limit.Processes:
			r.endSandbox(Report{End: ProcessLimit})
		case memory > limit.Memory:
			r.endSandbox(Report{End: MemoryLimit})
		case limit.CPU > 0 && cpu > limit.CPU:
			r.endSandbox(Report{End: CPULimit})
		}
		time.Sleep(PollEvery)
	}
}

// PollEvery is the time between two checks of the limits that the kernel does not enforce.
const PollEvery = 50 * time.Millisecond

// failure returns the report for a program that was not started because of err. If err is a wrapError, the report
// names its text as the step that failed.
func failure(err error) Report {
	rep := Report{End: NotStarted, Step: "start", Text: err.Error()}
	if w, ok := err.(*wrapError); ok {
		rep.Step, rep.Text = w.text, w.err.Error()
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		rep.Errno = int(errno)
	}
	return rep
}

// finish sends the report rep and exits, which also ends all processes of the PID namespace.
func finish(rep Report) {
	syscall.Write(lifeline, rep.Encode())
	syscall.Exit(0) // at once, which ends all processes of the PID namespace
}

// run gives up the rights of this thread and applies all restrictions to it. Then it starts the program from this
// thread and returns the program's PID.
func (c *Config) run() (pid int, err error) {
	if err := c.enterGroups(); err != nil {
		return 0, err
	}
	syscall.Umask(0)
	if c.HasNamespaces {
		if err := c.buildRoot(); err != nil {
			return 0, err
		}
		if err := syscall.Sethostname([]byte("timba")); err != nil {
			return 0, wrap("hostname", err)
		}
	} else if err := sys.Prctl(sys.PR_SET_CHILD_SUBREAPER, 1); err != nil {
		return 0, wrap("subreaper", err)
	}
	syscall.Umask(0o022)
	if err := c.setLimits(); err != nil {
		return 0, wrap("limits", err)
	}
	rules, err := c.landlock()
	if err != nil {
		return 0, wrap("landlock", err)
	}
	if err := dropRights(c.UID, c.HasNamespaces); err != nil {
		return 0, wrap("rights", err)
	}
	if err := rules.enforce(); err != nil {
		return 0, wrap("landlock", err)
	}
	if err := c.filterCalls(); err != nil {
		return 0, wrap("seccomp", err)
	}
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}}
	pid, err = syscall.ForkExec(c.Path, c.Argv, attr)
	if err != nil {
		return 0, wrap("exec", wrap(c.Path, err))
	}
	return pid, nil
}

// raiseOOM raises the OOM score of this process, which the program inherits. When the machine runs out of memory, the
// kernel kills processes with a high score first. It returns the open file of the score, which lowerOOM needs.
func raiseOOM() *os.File {
	f, _ := os.OpenFile("/proc/self/oom_score_adj", os.O_WRONLY, 0)
	f.WriteString("1000") // a nil file is allowed
	return f
}

// lowerOOM lowers init's own OOM score again, so that the kernel kills the program before init. Only root may set a
// score below 0, which is even safer. f is the open file of the score from raiseOOM; lowerOOM closes it.
func lowerOOM(f *os.File) {
	if _, err := f.WriteString("-1000"); err != nil {
		f.WriteString("0")
	}
	f.Close()
}

// filterCalls installs the seccomp filter c.Filter for this thread and everything that it starts.
func (c *Config) filterCalls() error {
	for i, f := range c.Filter {
		if f.K == Thread && f.Code&7 == syscall.BPF_JMP {
			c.Filter[i].K = uint32(syscall.Gettid())
		}
	}
	prog := syscall.SockFprog{Len: uint16(len(c.Filter)), Filter: &c.Filter[0]}
	const mode = 2 // SECCOMP_MODE_FILTER
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, sys.PR_SET_SECCOMP, mode, uintptr(unsafe.Pointer(&prog)), 0, 0, 0)
	return sys.Err(errno)
}
