package referee

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/sandbox"
)

// process is a bot as a child process on Linux. The goroutine that starts it is
// locked to its thread and does all reading and writing itself: it sleeps in one
// poll on stdout, stderr and the process's own descriptor, so that a turn costs
// two switches between processes and the exit of a bot is seen at once.
type process struct {
	ctx     context.Context
	cmd     *exec.Cmd
	in, out int // non-blocking; -1 when closed
	err     int
	pidfd   int
	watch   int // epoll on out, err, pidfd and in; 0 until it is needed
	lines   lineBuffer
	log     []byte
	deaf    bool // it has closed its stdin
	exited  bool
	tag     string // in the environment of all that the bot starts
	scratch string

	bot   Bot // of a sandbox, as are those below
	held  *sandbox.Process
	still bool // stopped while it is not its turn
}

// start runs a bot. Its end of life is bound to the calling thread's.
func start(ctx context.Context, b Bot, scratch, tag string) (conn, error) {
	p := &process{ctx: ctx, in: -1, out: -1, err: -1, pidfd: -1, tag: tag, scratch: scratch}
	if err := p.start(b); err != nil {
		p.Close(0)
		return nil, err
	}
	return p, nil
}

func (p *process) start(b Bot) error {
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			f.Close() // nil is fine
		}
	}()
	for i, mine := range []*int{&p.in, &p.out, &p.err} {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
			return fmt.Errorf("referee: a pipe to %s: %w", b.Name, err)
		}
		read, write := fds[0], fds[1]
		if i == 0 {
			*mine, theirs[i] = write, os.NewFile(uintptr(read), "stdin")
		} else {
			*mine, theirs[i] = read, os.NewFile(uintptr(write), "output")
		}
		if err := unix.SetNonblock(*mine, true); err != nil {
			return fmt.Errorf("referee: a pipe to %s: %w", b.Name, err)
		}
	}
	if b.Hold != nil {
		return p.startHeld(b, theirs)
	}
	p.cmd = b.command(p.scratch, p.tag)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &p.pidfd}
	if err := p.cmd.Start(); err != nil {
		p.cmd = nil
		return startError(b, err)
	}
	return nil
}

func (p *process) Send(lines []byte, deadline time.Time) error {
	if err := p.Wake(); err != nil {
		return err
	}
	for len(lines) > 0 {
		n, errno := writeNow(p.in, lines)
		switch errno {
		case 0:
			lines = lines[n:]
		case unix.EAGAIN:
			if err := p.awaitRoom(time.Until(deadline)); err != nil || p.deaf {
				return err
			}
		case unix.EINTR:
		case unix.EPIPE:
			p.deaf = true // Line tells, after what it has still written
			return nil
		default:
			return fmt.Errorf("referee: writing to a bot: %w", errno)
		}
	}
	return nil
}

func (p *process) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	for {
		line, ok, err := p.lines.next()
		if ok || err != nil {
			return line, now, err
		}
		if left := deadline.Sub(now); left > 0 && !p.exited && !p.deaf {
			if err := p.await(left); err != nil {
				return nil, now, err
			}
			now = time.Now()
		}
		n, errno := readNow(p.out, p.lines.room())
		switch {
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			if p.exited || p.deaf {
				return nil, now, p.gone("closed its input")
			}
			if !now.Before(deadline) {
				return nil, now, errLate
			}
			if err := p.ctx.Err(); err != nil {
				return nil, now, err
			}
		case errno != 0:
			return nil, now, fmt.Errorf("referee: reading from a bot: %w", errno)
		case n == 0:
			return nil, now, p.gone("closed its output")
		default:
			p.lines.added(n)
		}
	}
}

// await sleeps until the bot has written on stdout, it has written on stderr
// (which is read here), it has exited, a slice of time has passed or the time is
// up, whichever comes first. It is the one sleep of every turn, so the
// descriptors are registered once.
func (p *process) await(left time.Duration) error {
	if p.watch == 0 {
		if err := p.register(); err != nil {
			return err
		}
	}
	slice := min(max(0, left), stopSlice)
	var events [4]unix.EpollEvent
	n, err := unix.EpollWait(p.watch, events[:], int((slice+time.Millisecond-1)/time.Millisecond))
	if err != nil && err != unix.EINTR {
		return fmt.Errorf("referee: waiting for a bot: %w", err)
	}
	for _, e := range events[:max(0, n)] {
		switch int(e.Fd) {
		case p.err:
			p.drain()
		case p.pidfd:
			p.exited = true
		case p.in:
			p.inputClosed()
		}
	}
	return nil
}

// inputClosed takes it that nobody reads what a bot is sent any more. That is a
// fault now when lines were sent that it has not read: while a process is started
// there is for a moment another one that could read them, so that the write had no
// error. Else the bot may still answer, and fails when it is written to.
func (p *process) inputClosed() {
	unix.EpollCtl(p.watch, unix.EPOLL_CTL_DEL, p.in, nil) // it would be told again and again
	if n, err := unix.IoctlGetInt(p.in, unix.TIOCINQ); err == nil && n > 0 {
		p.deaf = true
	}
}

func (p *process) register() (err error) {
	if p.watch, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("referee: watching a bot: %w", err)
	}
	for _, fd := range []int{p.out, p.err, p.pidfd} {
		if fd < 0 {
			continue
		}
		if err := p.watchFor(fd, unix.EPOLLIN); err != nil {
			return err
		}
	}
	if p.in >= 0 {
		return p.watchFor(p.in, 0) // its end is told all the same
	}
	return nil
}

func (p *process) watchFor(fd int, events uint32) error {
	if err := unix.EpollCtl(p.watch, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}); err != nil {
		return fmt.Errorf("referee: watching a bot: %w", err)
	}
	return nil
}

// awaitRoom sleeps like await until a bot that does not read can be written to.
// One that never can is to blame.
func (p *process) awaitRoom(left time.Duration) error {
	fds := [3]unix.PollFd{
		{Fd: int32(p.in), Events: unix.POLLOUT},
		{Fd: int32(p.err), Events: unix.POLLIN},
		{Fd: int32(p.pidfd), Events: unix.POLLIN},
	}
	slice := min(max(0, left), stopSlice)
	ts := unix.NsecToTimespec(slice.Nanoseconds())
	n, err := unix.Ppoll(fds[:], &ts, nil)
	if err != nil && err != unix.EINTR {
		return fmt.Errorf("referee: waiting for a bot: %w", err)
	}
	if fds[1].Revents != 0 {
		p.drain()
	}
	if fds[2].Revents != 0 { // Line tells, after what it has still written
		p.exited, p.deaf = true, true
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if fds[0].Revents == 0 && (left <= 0 || n == 0 && left <= slice) {
		return faultf(protocol.Timeout, "did not read its input in time: the pipe is full")
	}
	return nil
}

// stopSlice is how long a wait may take to notice that the match is called off.
const stopSlice = 100 * time.Millisecond

// drain reads what is on stderr now, at most a few pipes full, so that a flood
// cannot keep the referee here.
func (p *process) drain() {
	var buf [4 << 10]byte
	for range 64 {
		n, err := unix.Read(p.err, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			return
		}
		if err != nil || n == 0 { // the bot has closed it
			unix.Close(p.err)
			p.err = -1
			return
		}
		p.log = keepStderr(p.log, buf[:n])
	}
}

// gone is the fault of a bot whose pipe has ended. It may be about to exit, so
// it gets a moment to say how.
func (p *process) gone(how string) error {
	moment := 100 * time.Millisecond
	if p.held != nil {
		moment = time.Second // its end is that of all its processes
	}
	p.awaitExit(time.Now().Add(moment))
	if !p.exited {
		return faultf(protocol.Exit, "%s while it was running", how)
	}
	if p.held != nil {
		return p.heldEnd()
	}
	text := "the process ended"
	if p.kill(); p.cmd != nil {
		p.cmd.Wait() // the error is how it ended, as the state tells
		text = exitText(p.cmd.ProcessState)
	}
	return p.exitFault(text)
}

// exitFault is the fault of a process that has ended.
func (p *process) exitFault(text string) error {
	if rest := p.lines.rest(); len(rest) > 0 {
		return faultf(protocol.Exit, "%s, after the unfinished line %q", text, rest[:min(len(rest), 80)])
	}
	return faultf(protocol.Exit, "%s", text)
}

func exitText(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return fmt.Sprintf("the process was killed by signal %d (%s)", int(w.Signal()), unix.SignalName(w.Signal()))
	}
	return fmt.Sprintf("the process exited with status %d", s.ExitCode())
}

func (p *process) Answered() {
	p.lines.answered()
	p.pause()
}

func (p *process) Stderr() []byte {
	if p.err >= 0 {
		p.drain()
	}
	log := p.log
	p.log = nil
	return log
}

func (p *process) Usage() sandbox.Usage {
	switch {
	case p.held != nil:
		return p.held.Usage()
	case p.cmd == nil:
		return sandbox.Usage{}
	case p.cmd.ProcessState == nil:
		return sandbox.UsageOf(p.cmd.Process.Pid)
	}
	s := p.cmd.ProcessState
	u := sandbox.Usage{CPU: s.UserTime() + s.SystemTime(), Processes: 1}
	if r, ok := s.SysUsage().(*syscall.Rusage); ok {
		u.Memory = r.Maxrss << 10
	}
	return u
}

// awaitExit waits for the process to end, reading what it still writes.
func (p *process) awaitExit(deadline time.Time) {
	var sink [4096]byte
	for !p.exited {
		left := time.Until(deadline)
		if left <= 0 {
			return
		}
		if p.await(left) != nil {
			return
		}
		if n, err := unix.Read(p.out, sink[:]); n == 0 || err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			p.closeOut()
		}
	}
}

// closeOut forgets stdout: poll passes over negative descriptors.
func (p *process) closeOut() {
	if p.out >= 0 {
		unix.Close(p.out)
	}
	p.out = -1
}

func (p *process) Close(grace time.Duration) {
	if p.held != nil {
		if grace > 0 {
			p.awaitExit(time.Now().Add(grace))
		}
		p.held.Kill()
		p.held.Wait() // how it ended does not matter any more
	}
	if p.cmd != nil {
		if grace > 0 {
			p.awaitExit(time.Now().Add(grace))
		}
		p.kill()
		if p.cmd.ProcessState == nil {
			p.cmd.Wait() // how it ended does not matter any more
		}
		sweep(p.tag)
	}
	if p.err >= 0 {
		p.drain()
	}
	if p.watch > 0 {
		unix.Close(p.watch)
		p.watch = 0
	}
	for _, fd := range []*int{&p.in, &p.out, &p.err, &p.pidfd} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
	dropScratch(p.scratch)
}

// kill ends the process group, and the process by itself in case that it has
// left its group. It is not yet waited for, so its number is nobody else's.
func (p *process) kill() {
	if p.cmd != nil && p.cmd.ProcessState == nil {
		unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
		unix.Kill(p.cmd.Process.Pid, unix.SIGKILL)
	}
}

// sweep ends what a bot has started and moved out of its process group: every
// process with the tag in its environment. What hides from this is the
// sandbox's to hold.
func sweep(tag string) {
	for range 50 {
		found := false
		for _, pid := range tagged(tag) {
			found = unix.Kill(pid, unix.SIGKILL) == nil || found
		}
		if !found {
			return
		}
	}
}

// tagged lists the running processes with a bot's tag in their environment.
func tagged(tag string) (pids []int) {
	want := []byte(tagName + "=" + tag + "\x00")
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		// Of a process that has ended and not been waited for it is empty.
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && bytes.Contains(env, want) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// startError tells a bot's fault from the referee's own trouble.
func startError(b Bot, err error) error {
	for _, own := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EAGAIN} {
		if errors.Is(err, own) {
			return fmt.Errorf("referee: starting %s: %w", b.Name, err)
		}
	}
	return faultf(protocol.Startup, notStarted+"%s: try %q by hand", strings.TrimPrefix(err.Error(), "fork/exec "), strings.Join(b.Command, " "))
}
