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

// init runs the cleaner or the probe if this program was started under that name. Package initproc does the
// same for the first process of a sandbox.
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

// Process is a running program, in a sandbox or at LevelNone without one.
type Process struct {
	firstProcess *os.Process // init of the sandbox; at LevelNone the program itself
	mark         string      // environment variable that marks its processes; only at LevelNone
	pidfd        int
	lifeline     *os.File // this process's end of the socket to init; init ends everything when it closes
	group        group
	level        Level
	uid          int
	limit        Limit
	isKilled     atomic.Bool
	cause        atomic.Uint32 // EndReason of a kill by monitor, plus 1; 0 if there was none
	isFrozen     atomic.Bool
	mu           sync.Mutex // guards isReaped; no signal may be sent once that is set
	isReaped     bool       // firstProcess was waited for, so that its PID may be another process's
	initLeft     bool       // init is known to have left the cgroup that freezes
	waitOnce     sync.Once
	monitorStop  chan struct{} // closed to stop monitor
	status       Status
}

// Start runs a program. The program of a sandbox may start only after Start has returned; Wait reports if
// that failed. At LevelNone the program ends with the calling thread, so that the caller must call
// runtime.LockOSThread before.
func Start(s Spec) (*Process, error) {
	if s.Level == LevelNone {
		return startPlain(s)
	}
	if r := Probe(); r.Level < s.Level {
		return nil, r.levelError(s.Level)
	}
	return start(s)
}

// start runs a program in a sandbox, even at a level that this machine may not support.
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

// initEnv keeps the process init small. It has one running thread, and GOMEMLIMIT allows garbage collection
// only for the memory that polling the limits allocates.
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

// Level returns the level of the sandbox.
func (p *Process) Level() Level { return p.level }

// PidFD returns a pidfd that becomes readable when the first process ends. It is valid until Wait. It is -1
// on a kernel without pidfds, which supports only LevelNone.
func (p *Process) PidFD() int { return p.pidfd }

// Pid returns the process ID of the first process, or 0 if it has ended.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.firstProcess == nil {
		return 0
	}
	return p.firstProcess.Pid
}

// ThreadsFile returns the path of the file that lists the threads of all processes. Without a cgroup it returns "".
func (p *Process) ThreadsFile() string {
	if p.group == nil {
		return ""
	}
	return p.group.threadsFile()
}

// CPU returns the CPU time of all processes, including those that have ended. Without a cgroup it is only
// known after Wait, and 0 before.
func (p *Process) CPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.group == nil {
		return p.status.CPU
	}
	return p.group.cpu()
}

// Memory returns the memory in use by all processes, in bytes. Without a cgroup and after the end it returns 0.
func (p *Process) Memory() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped || p.group == nil {
		return 0
	}
	return p.group.memory()
}

// Kill ends all processes. They have ended when Wait returns.
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

// killFor ends all processes because they reached a limit. Only the first reason is recorded.
func (p *Process) killFor(r EndReason) {
	p.cause.CompareAndSwap(0, uint32(r)+1)
	p.kill()
}

// Freeze stops all processes if on is true, and resumes them otherwise. Without a cgroup it returns an error.
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
		// If init were frozen, it would not notice that this process ends.
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

// awaitInitLeft waits until init has left the cgroup that freezes, or has ended.
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

// Wait waits until the program ends, ends its remaining processes, releases all resources and returns how the
// program ended. Further calls return the same.
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
	close(p.monitorStop) // a check that is running finds no files
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

// awaitEnd waits until a child has ended, but does not reap it, so that its PID stays reserved.
func awaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// lastReport returns init's report. It returns nil if init was ended before it sent one.
func (p *Process) lastReport() *initproc.Report {
	data, _ := io.ReadAll(p.lifeline) // an error means that init ended early, or that there is no lifeline
	var r initproc.Report
	if r.Decode(bytes.TrimPrefix(data, []byte{initproc.LeftGroup})) != nil {
		return nil
	}
	return &r
}

// reasonOf maps the ends that init reports to reasons.
var reasonOf = map[initproc.End]EndReason{
	initproc.Exited: Exited, initproc.MemoryLimit: MemoryLimit, initproc.ProcessLimit: ProcessLimit,
	initproc.CPULimit: CPULimit, initproc.Killed: Killed, initproc.NotStarted: NotStarted,
}

// statusOf returns the status for init's report, which is nil if there is none. A limit ends a program by a
// signal or makes it fail, so the limits are checked here to find the actual reason.
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
	switch cause := p.cause.Load(); {
	case p.group != nil && s.Reason != NotStarted && p.group.outOfMemory():
		s.Reason = MemoryLimit
	case cause > 0:
		s.Reason = EndReason(cause - 1)
	case p.isKilled.Load() && s.Reason == Signalled && s.Signal == unix.SIGKILL:
		s.Reason = Killed // if it has another status, it ended before the kill
	case s.Reason == Signalled && s.Signal == unix.SIGSYS:
		s.Reason = Forbidden
	case s.Reason == Signalled && (s.Signal == unix.SIGXCPU || s.Signal == unix.SIGKILL && p.limit.CPU > 0 && s.CPU > p.limit.CPU):
		s.Reason = CPULimit // the kernel enforced it before monitor did
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

// remoteError is an error that init reported.
type remoteError struct {
	text  string
	errno syscall.Errno
}

func (e *remoteError) Error() string { return e.text }

// Unwrap returns the error number.
func (e *remoteError) Unwrap() error { return e.errno }

// needsMonitor reports whether this process must enforce a limit because the kernel does not. That is the
// limit of CPU time and, with cgroup v1, that of the total memory.
func (p *Process) needsMonitor() bool {
	return p.group != nil && (p.limit.CPU > 0 || !p.group.killsAll())
}

// monitor checks these limits regularly until Wait is called.
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

// checkLimits ends the program if it has reached a limit. It does nothing while the program is frozen.
func (p *Process) checkLimits() {
	switch {
	case p.isFrozen.Load():
	case !p.group.killsAll() && p.group.outOfMemory():
		p.killFor(MemoryLimit)
	case p.limit.CPU > 0 && p.group.cpu() > p.limit.CPU:
		p.killFor(CPULimit)
	}
}
