package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// init runs another main function and never returns if this program was started under cleanerName or probeName: as
// the cleaner process, or to test a sandbox from inside. Package initproc does the same for the first process of a
// sandbox.
func init() {
	if len(os.Args) == 0 {
		return
	}
	switch os.Args[0] {
	case cleanerName:
		cleanerMain()
	case probeName:
		probeMain()
	}
}

// Process is a running program, in a sandbox or, at LevelNone, without one.
type Process struct {
	firstProcess *os.Process // the sandbox's init process; at LevelNone the program itself
	mark         string      // environment variable by which its processes are found; only at LevelNone
	pidfd        int
	lifeline     *os.File // this end of a socket to the init process, which kills all processes when the socket closes
	group        group
	level        Level
	uid          int
	isKilled     atomic.Bool
	mu           sync.Mutex // guards isReaped; after that is set no signal may be sent
	isReaped     bool       // firstProcess was waited for, so that another process may have its PID
	waitOnce     sync.Once
	status       Status
	monitor      monitor
	freezer      freezer
}

// monitor is the state of the goroutine runMonitor, which checks limits that the kernel does not enforce.
type monitor struct {
	limit Limit
	cause atomic.Uint32 // EndReason plus 1 if the processes were killed because of a limit; otherwise 0
	stop  chan struct{} // closed to end the goroutine
}

// freezer is the state of Process.Freeze: whether all processes of a program are stopped.
type freezer struct {
	isFrozen atomic.Bool
	initLeft bool // the init process is known to have left the cgroup that is frozen; guarded by Process.mu
}

// Start starts a program, in a sandbox unless s.Level is LevelNone. In a sandbox, the program may not have started
// yet when Start returns; if it then cannot be started, Wait reports that. At LevelNone the program ends together
// with the thread that started it, so the caller must call runtime.LockOSThread first.
func Start(s Spec) (*Process, error) {
	if s.Level == LevelNone {
		return startPlain(s)
	}
	if r := Probe(); r.Level < s.Level {
		return nil, r.levelError(s.Level)
	}
	return start(s)
}

// start starts a program in a sandbox. Unlike Start, it does not check whether this machine supports the level.
func start(s Spec) (*Process, error) {
	c, err := s.prepare()
	if err != nil {
		return nil, wrapStep("program", err)
	}
	p := &Process{pidfd: -1, level: s.Level, uid: -1, monitor: monitor{limit: Limit(c.Limit), stop: make(chan struct{})}}
	if err := p.start(s, c); err != nil {
		p.Kill()
		p.Wait()
		return nil, err
	}
	if p.needsMonitor() {
		go p.runMonitor()
	}
	return p, nil
}

func (p *Process) start(s Spec, c *initproc.Config) error {
	root := os.Geteuid() == 0
	var err error
	if root {
		if p.uid, err = uids.acquire(); err != nil {
			return wrapStep("users", err)
		}
		c.UID = p.uid
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return wrapStep("lifeline", err)
	}
	p.lifeline = os.NewFile(uintptr(fds[0]), "lifeline")
	initEnd := os.NewFile(uintptr(fds[1]), "lifeline")
	defer initEnd.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return wrapStep("null", err)
	}
	defer null.Close()
	files := []*os.File{null, null, null, initEnd}
	for i, f := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if f != nil {
			files[i] = f
		}
	}
	attr := &os.ProcAttr{Files: files, Env: initEnv, Sys: &syscall.SysProcAttr{PidFD: &p.pidfd, Setsid: true}}
	if c.HasCgroup {
		all, err := cgroups()
		if err != nil {
			return wrapStep("cgroup", err)
		}
		if p.group, err = all.create(p.monitor.limit); err != nil {
			return wrapStep("cgroup", err)
		}
		p.group.join(c, attr)
	}
	if c.HasNamespaces {
		attr.Sys.Cloneflags = namespaces
		if !root {
			attr.Sys.Cloneflags |= unix.CLONE_NEWUSER
			attr.Sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
			attr.Sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		}
	}
	if p.firstProcess, err = os.StartProcess("/proc/self/exe", []string{initproc.Name}, attr); err != nil {
		return wrapStep("namespaces", err)
	}
	return p.sendConfig(c)
}

const namespaces = unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// initEnv is the environment of the sandbox's init process. Its settings of the Go runtime keep the process small:
// the garbage collector runs only when the memory reaches GOMEMLIMIT.
var initEnv = []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=24MiB", "GOTRACEBACK=none"}

func (p *Process) sendConfig(c *initproc.Config) error {
	if err := p.addFilter(c); err != nil {
		return wrapStep("seccomp", err)
	}
	_, err := p.lifeline.Write(c.Encode())
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		return nil // Wait reports the cause
	}
	return wrapStep("lifeline", err)
}

// Level returns how strict the program's sandbox is; LevelNone means that it has none.
func (p *Process) Level() Level { return p.level }

// PidFD returns a file descriptor that becomes readable when the program or, in a sandbox, the sandbox's init process
// ends. It is valid until Wait. It is -1 on a kernel without pidfds, where only LevelNone is supported.
func (p *Process) PidFD() int { return p.pidfd }

// Pid returns the process ID of the sandbox's init process or, at LevelNone, of the program. It returns 0 after Wait.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.firstProcess == nil {
		return 0
	}
	return p.firstProcess.Pid
}

// ThreadsFile returns the path of a file that lists the IDs of all threads of the program. Below LevelFull there is
// no such file, and it returns "".
func (p *Process) ThreadsFile() string {
	if p.group == nil {
		return ""
	}
	return p.group.threadsFile()
}

// CPU returns the CPU time of all processes of the program, including those that have ended. Below LevelFull,
// where there is no cgroup, it returns 0 until Wait has returned.
func (p *Process) CPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.group == nil {
		return p.status.CPU
	}
	return p.group.cpu()
}

// Memory returns how many bytes of memory all processes of the program use. It returns 0 below LevelFull, where
// there is no cgroup, and after Wait.
func (p *Process) Memory() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.group == nil {
		return 0
	}
	return p.group.memory()
}

// Kill kills all processes of the program. It does not wait; all have ended when Wait returns.
func (p *Process) Kill() {
	p.isKilled.Store(true)
	p.kill()
}

func (p *Process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped {
		return
	}
	if p.level == LevelNone {
		p.killPlain()
		return
	}
	if p.level == LevelWeak {
		if p.lifeline != nil { // init kills the processes
			unix.Shutdown(int(p.lifeline.Fd()), unix.SHUT_WR)
		}
		return
	}
	if p.group != nil {
		p.group.kill()
	}
	if p.firstProcess != nil {
		p.firstProcess.Signal(unix.SIGKILL) // an error means that it has ended
	}
}

// killFor kills all processes of the program because they exceeded a limit. It records r as the reason why the
// program ended, unless a reason is recorded already.
func (p *Process) killFor(r EndReason) {
	p.monitor.cause.CompareAndSwap(0, uint32(r)+1)
	p.kill()
}

// Freeze stops all processes of the program if on is true, and resumes them otherwise. Below LevelFull it returns an
// error, because there is no cgroup.
func (p *Process) Freeze(on bool) error {
	if p.group == nil {
		return wrapStep("freeze", fmt.Errorf("a program at level %s has no cgroup", p.level))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.freezer.isFrozen.Load() == on {
		return nil
	}
	if on && !p.freezer.initLeft {
		// If init were frozen, it would not notice that this process ends.
		if err := p.awaitInitLeft(); err != nil {
			return wrapStep("freeze", err)
		}
		p.freezer.initLeft = true
	}
	if err := p.group.freeze(on); err != nil {
		return wrapStep("freeze", err)
	}
	p.freezer.isFrozen.Store(on)
	return nil
}

// awaitInitLeft waits until the sandbox's init process has left the cgroup that will be frozen, or has ended. If that
// takes more than a minute, awaitInitLeft returns an error.
func (p *Process) awaitInitLeft() error {
	fds := []unix.PollFd{{Fd: int32(p.lifeline.Fd()), Events: unix.POLLIN}}
	for deadline := time.Now().Add(time.Minute); ; { // it may take long on a busy machine
		n, err := unix.Poll(fds, int(time.Until(deadline).Milliseconds())+1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return errors.New("the sandbox has not started yet")
		default:
			return nil
		}
	}
}

// Wait waits until the program ends, kills its remaining processes, releases all resources, and returns how the
// program ended. Another call returns the same Status again.
func (p *Process) Wait() Status {
	p.waitOnce.Do(p.wait)
	return p.status
}

func (p *Process) wait() {
	if p.level == LevelNone {
		p.waitPlain()
		return
	}
	if p.firstProcess != nil {
		awaitEnd(p.firstProcess.Pid)
	}
	close(p.monitor.stop) // a check that is running finds no files
	p.status = p.statusOf(p.lastReport())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.firstProcess != nil {
		p.firstProcess.Wait() // its own status does not matter
	}
	p.isReaped = true
	if p.group != nil {
		p.status.CPU = p.group.cpu()
		if err := p.group.close(); err != nil && p.status.Err == nil {
			p.status.Step, p.status.Err = "cgroup", err
		}
	}
	p.lifeline.Close() // a nil file is allowed
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
	if p.uid >= 0 {
		uids.release(p.uid)
	}
}

// awaitEnd waits until the child process pid has ended. It leaves the process a zombie, so that the system does not
// use its PID again.
func awaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// lastReport returns the report of the sandbox's init process on how the program ended. It returns nil if the init
// process was killed before it could report.
func (p *Process) lastReport() *initproc.Report {
	data, _ := io.ReadAll(p.lifeline) // an error means that init ended early, or that there is no lifeline
	var r initproc.Report
	if r.Decode(bytes.TrimPrefix(data, []byte{initproc.LeftGroup})) != nil {
		return nil
	}
	return &r
}

// reasonOf maps the ways to end that the init process reports to the reasons in a Status.
var reasonOf = map[initproc.End]EndReason{
	initproc.Exited: Exited, initproc.MemoryLimit: MemoryLimit, initproc.ProcessLimit: ProcessLimit,
	initproc.CPULimit: CPULimit, initproc.Killed: Killed, initproc.NotStarted: NotStarted,
}

// statusOf returns how the program ended. r is the report of the sandbox's init process, or nil if there is none. A
// program that exceeds a limit may seem to end by a signal or by an error of its own. Therefore statusOf also checks
// whether a limit was reached.
func (p *Process) statusOf(r *initproc.Report) (s Status) {
	s.Reason = Killed
	if r != nil {
		s.Reason, s.CPU = reasonOf[r.End], time.Duration(r.CPU)
	}
	switch s.Reason {
	case Exited:
		if ws := syscall.WaitStatus(r.Wait); ws.Signaled() {
			s.Reason, s.Signal = Signalled, ws.Signal()
		} else {
			s.Code = ws.ExitStatus()
		}
	case NotStarted:
		s.Step, s.Err = r.Step, reportError(r)
	case ProcessLimit: // init counted too many processes and killed them
		s.Signal = unix.SIGKILL
	}
	failed := s.Reason != NotStarted && (s.Reason != Exited || s.Code != 0)
	switch cause := p.monitor.cause.Load(); {
	case p.group != nil && s.Reason != NotStarted && p.group.outOfMemory():
		s.Reason = MemoryLimit
	case cause > 0:
		s.Reason = EndReason(cause - 1)
	case p.isKilled.Load() && s.Reason == Signalled && s.Signal == unix.SIGKILL:
		s.Reason = Killed // if it has another status, it ended before the kill
	case s.Reason == Signalled && s.Signal == unix.SIGSYS:
		s.Reason = Forbidden
	case s.Reason == Signalled && (s.Signal == unix.SIGXCPU || s.Signal == unix.SIGKILL && p.monitor.limit.CPU > 0 && s.CPU > p.monitor.limit.CPU):
		s.Reason = CPULimit // the kernel enforced it before runMonitor did
	case failed && p.group != nil && p.group.refusedProcess():
		s.Reason = ProcessLimit
	}
	return s
}

func reportError(r *initproc.Report) error {
	if r.Errno == 0 {
		return errors.New(r.Text)
	}
	return &remoteError{r.Text, syscall.Errno(r.Errno)}
}

// remoteError is an error that the sandbox's init process has reported: its text and its error number.
type remoteError struct {
	text  string
	errno syscall.Errno
}

func (e *remoteError) Error() string { return e.text }

func (e *remoteError) Unwrap() error { return e.errno }

// needsMonitor reports whether runMonitor must check a limit that the kernel does not enforce. This is a limit of CPU
// time or, with cgroups of version 1, the limit of memory.
func (p *Process) needsMonitor() bool {
	return p.group != nil && (p.monitor.limit.CPU > 0 || !p.group.killsAll())
}

// runMonitor repeats checkLimits until Wait finds that the program has ended.
func (p *Process) runMonitor() {
	tick := time.NewTicker(initproc.PollEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.monitor.stop:
			return
		case <-tick.C:
			p.checkLimits()
		}
	}
}

// checkLimits kills all processes if they have exceeded a limit of CPU time or memory. It does nothing while they
// are frozen.
func (p *Process) checkLimits() {
	switch {
	case p.freezer.isFrozen.Load():
	case !p.group.killsAll() && p.group.outOfMemory():
		p.killFor(MemoryLimit)
	case p.monitor.limit.CPU > 0 && p.group.cpu() > p.monitor.limit.CPU:
		p.killFor(CPULimit)
	}
}
