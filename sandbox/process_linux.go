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

// init makes this program a cleaner or a probe if it was started under that name. Package initproc
// does the same for the first process of a sandbox.
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

// Process is a running program, with its sandbox if it has one.
type Process struct {
	firstProcess *os.Process // init; the program itself at level None
	mark         string      // only at level None
	pidfd        int
	lifeline     *os.File // this end of the lifeline
	group        group
	level        Level
	uid          int
	limit        Limit
	isKilled     atomic.Bool
	cause        atomic.Uint32 // the Reason of a watcher's kill, plus 1
	isFrozen     atomic.Bool
	mu           sync.Mutex // kill and what it uses
	isReaped     bool
	initLeft     bool // init is known to have left the cgroup that is frozen
	waitOnce     sync.Once
	monitorStop  chan struct{} // closed when nothing is left to watch
	status       Status
}

// Start runs a program. In a sandbox it is started when Start returns or soon after; Wait
// reports if that failed. Without one it ends with the calling thread, to which the caller
// must be locked.
func Start(s Spec) (*Process, error) {
	if s.Level == LevelNone {
		return startPlain(s)
	}
	if r := Probe(); r.Level < s.Level {
		return nil, r.levelError(s.Level)
	}
	return start(s)
}

// start is Start, also at a level that this machine may not have.
func start(s Spec) (*Process, error) {
	c, err := s.prepare()
	if err != nil {
		return nil, wrapStep("program", err)
	}
	p := &Process{pidfd: -1, monitorStop: make(chan struct{}), level: s.Level, uid: -1, limit: Limit(c.Limit)}
	if err := p.start(s, c); err != nil {
		p.Kill()
		p.Wait()
		return nil, err
	}
	if p.needsMonitor() {
		go p.monitor()
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
	theirs := os.NewFile(uintptr(fds[1]), "lifeline")
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return wrapStep("null", err)
	}
	defer null.Close()
	files := []*os.File{null, null, null, theirs}
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
		if p.group, err = all.create(p.limit); err != nil {
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

// initEnv keeps an init small: one running thread, and no garbage collection but of what checking
// limits leaves.
var initEnv = []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=24MiB", "GOTRACEBACK=none"}

// sendConfig sends an init its configuration.
func (p *Process) sendConfig(c *initproc.Config) error {
	if err := p.addFilter(c); err != nil {
		return wrapStep("seccomp", err)
	}
	_, err := p.lifeline.Write(c.Encode())
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		return nil // Wait reports why
	}
	return wrapStep("lifeline", err)
}

// Level returns the level of the sandbox.
func (p *Process) Level() Level { return p.level }

// PidFD returns a descriptor that becomes readable when the sandbox, or the program without one,
// has ended; valid until Wait. It is -1 on a kernel without such descriptors, where no sandbox is.
func (p *Process) PidFD() int { return p.pidfd }

// Pid returns the number of the first process, 0 if it has ended.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.firstProcess == nil {
		return 0
	}
	return p.firstProcess.Pid
}

// ThreadsFile returns the file that lists the threads of all processes; "" without a cgroup.
func (p *Process) ThreadsFile() string {
	if p.group == nil {
		return ""
	}
	return p.group.threadsFile()
}

// CPU returns the CPU time of all processes, also ended ones; without a cgroup only after Wait.
func (p *Process) CPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.group == nil {
		return p.status.CPU
	}
	return p.group.cpu()
}

// Memory returns how much memory all processes use, in bytes; 0 without a cgroup and after the end.
func (p *Process) Memory() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.group == nil {
		return 0
	}
	return p.group.memory()
}

// Kill ends all processes. They are gone when Wait returns.
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
		if p.lifeline != nil { // init ends the processes
			unix.Shutdown(int(p.lifeline.Fd()), unix.SHUT_WR)
		}
		return
	}
	if p.group != nil {
		p.group.kill()
	}
	if p.firstProcess != nil {
		p.firstProcess.Signal(unix.SIGKILL) // an error: it has ended
	}
}

// killFor is kill with a reason, for a limit of the sandbox.
func (p *Process) killFor(r Reason) {
	p.cause.CompareAndSwap(0, uint32(r)+1)
	p.kill()
}

// Freeze stops all processes, or resumes them. It returns an error without a cgroup.
func (p *Process) Freeze(on bool) error {
	if p.group == nil {
		return wrapStep("freeze", fmt.Errorf("a program at level %s has no cgroup", p.level))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.isFrozen.Load() == on {
		return nil
	}
	if on && !p.initLeft {
		// A frozen init would not notice the end of the referee.
		if err := p.awaitInitLeft(); err != nil {
			return wrapStep("freeze", err)
		}
		p.initLeft = true
	}
	if err := p.group.freeze(on); err != nil {
		return wrapStep("freeze", err)
	}
	p.isFrozen.Store(on)
	return nil
}

// awaitInitLeft waits until init has left the cgroup that is frozen, or has ended.
func (p *Process) awaitInitLeft() error {
	fds := []unix.PollFd{{Fd: int32(p.lifeline.Fd()), Events: unix.POLLIN}}
	for deadline := time.Now().Add(time.Minute); ; { // on a busy machine it may take long
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

// Wait waits for the program's end, ends its remaining processes, frees everything and
// returns how the program ended. It can be called again.
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
	close(p.monitorStop) // a check in progress finds no files any more
	p.status = p.statusOf(p.lastReport())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.firstProcess != nil {
		p.firstProcess.Wait() // how init itself ended does not matter
	}
	p.isReaped = true
	if p.group != nil {
		p.status.CPU = p.group.cpu()
		if err := p.group.close(); err != nil && p.status.Err == nil {
			p.status.Step, p.status.Err = "cgroup", err
		}
	}
	p.lifeline.Close() // nil is fine
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
	if p.uid >= 0 {
		uids.release(p.uid)
	}
}

// awaitEnd waits for the end of a child, which keeps its number.
func awaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// lastReport returns init's report; nil if init was ended before it sent one.
func (p *Process) lastReport() *initproc.Report {
	data, _ := io.ReadAll(p.lifeline) // an error: init ended before it read everything, or there is no line
	var r initproc.Report
	if r.Decode(bytes.TrimPrefix(data, []byte{initproc.LeftGroup})) != nil {
		return nil
	}
	return &r
}

// reasonOf has the reason for each end that an init reports.
var reasonOf = map[initproc.End]Reason{
	initproc.Exited: Exited, initproc.MemoryLimit: MemoryLimit, initproc.ProcessLimit: ProcessLimit,
	initproc.CPULimit: CPULimit, initproc.Killed: Killed, initproc.NotStarted: NotStarted,
}

// statusOf sets the reason of an end: the effect of a limit looks like a signal or an error
// of the program.
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
	case ProcessLimit: // init counted too many, and killed them
		s.Signal = unix.SIGKILL
	}
	failed := s.Reason != NotStarted && (s.Reason != Exited || s.Code != 0)
	switch cause := p.cause.Load(); {
	case p.group != nil && s.Reason != NotStarted && p.group.outOfMemory():
		s.Reason = MemoryLimit
	case cause > 0:
		s.Reason = Reason(cause - 1)
	case p.isKilled.Load() && s.Reason == Signalled && s.Signal == unix.SIGKILL:
		s.Reason = Killed // otherwise it had already ended by itself
	case s.Reason == Signalled && s.Signal == unix.SIGSYS:
		s.Reason = Forbidden
	case s.Reason == Signalled && (s.Signal == unix.SIGXCPU || s.Signal == unix.SIGKILL && p.limit.CPU > 0 && s.CPU > p.limit.CPU):
		s.Reason = CPULimit // by the kernel, before it was looked at
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

// remoteError is an error that an init reported.
type remoteError struct {
	text  string
	errno syscall.Errno
}

func (e *remoteError) Error() string { return e.text }

// Unwrap returns the error number.
func (e *remoteError) Unwrap() error { return e.errno }

// needsMonitor reports whether a limit of the sandbox is not the kernel's: that of CPU time and, in
// version 1 of cgroups, that of memory for all processes together.
func (p *Process) needsMonitor() bool {
	return p.group != nil && (p.limit.CPU > 0 || !p.group.killsAll())
}

// monitor ends the program when it has reached such a limit, until it has ended.
func (p *Process) monitor() {
	tick := time.NewTicker(initproc.PollEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.monitorStop:
			return
		case <-tick.C:
			p.checkLimits()
		}
	}
}

// checkLimits ends a process that has reached a limit.
func (p *Process) checkLimits() {
	switch {
	case p.isFrozen.Load():
	case !p.group.killsAll() && p.group.outOfMemory():
		p.killFor(MemoryLimit)
	case p.limit.CPU > 0 && p.group.cpu() > p.limit.CPU:
		p.killFor(CPULimit)
	}
}
