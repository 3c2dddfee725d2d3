package match

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/internal/proc"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sandbox"
)

// process is a bot that is a child process on Linux. It implements BotConn. A single goroutine, locked to its thread,
// starts the bot and does all reading and writing. It waits for stdout, stderr and the pidfd in one epoll. Therefore
// a turn costs only two process switches, and the end of the bot is noticed at once.
type process struct {
	ctx context.Context
	// Non-blocking file descriptors of the referee's ends of the pipes to the bot; -1 if closed.
	stdin, stdout, stderr int
	pidfd                 int
	epoll                 int // for stdout, stderr, pidfd and stdin; 0 until needed
	lines                 lineBuffer
	log                   cutlog.Buffer
	deaf                  bool // the bot has closed its stdin or ended, so lines can no longer be sent
	exited                bool
	turn                  fairclock.TurnMeter
	bot                   Contestant
	sandbox               *sandbox.Process // set also for a bot without a sandbox; nil in tests without a process
}

func (p *process) isUnsandboxed() bool { return p.bot.Sandbox == nil }

// isFrozenBetweenTurns reports whether the bot is stopped whenever it is not its turn.
func (p *process) isFrozenBetweenTurns() bool { return !p.isUnsandboxed() && p.bot.Sandbox.Freeze }

// startProcess starts a bot as a child process. The process ends when the calling thread ends. w measures how much
// time other programs take from the process.
func startProcess(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
	p := &process{log: cutlog.Buffer{Limit: MaxLog}, ctx: ctx, stdin: -1, stdout: -1, stderr: -1, pidfd: -1, bot: b, turn: fairclock.NewTurn(w, time.Now())}
	if err := p.start(b); err != nil {
		p.Close(0)
		return nil, err
	}
	p.turn.Attach(fairclock.NewProcesses(p.sandbox))
	return p, nil
}

func (p *process) start(b Contestant) error {
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			f.Close() // nil is fine
		}
	}()
	for i, mine := range []*int{&p.stdin, &p.stdout, &p.stderr} {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
			return fmt.Errorf("match: a pipe to %s: %w", b.Name, err)
		}
		read, write := fds[0], fds[1]
		if i == 0 {
			*mine, theirs[i] = write, os.NewFile(uintptr(read), "stdin")
		} else {
			*mine, theirs[i] = read, os.NewFile(uintptr(write), "output")
		}
		if err := unix.SetNonblock(*mine, true); err != nil {
			return fmt.Errorf("match: a pipe to %s: %w", b.Name, err)
		}
	}
	spec, err := b.spec()
	if err != nil {
		return err
	}
	spec.Stdin, spec.Stdout, spec.Stderr = theirs[0], theirs[1], theirs[2]
	if p.sandbox, err = sandbox.Start(spec); err != nil {
		return startError(b, err)
	}
	if fd := p.sandbox.PidFD(); fd >= 0 {
		// A copy, because Wait closes the descriptor of the sandbox.
		if p.pidfd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return fmt.Errorf("match: starting %s: %w", b.Name, err)
		}
	}
	return nil
}

func (p *process) Send(lines []byte, deadline time.Time) (sent int, err error) {
	if err := p.resume(); err != nil {
		return 0, err
	}
	for sent < len(lines) {
		n, errno := writeNow(p.stdin, lines[sent:])
		switch errno {
		case 0:
			sent += n
		case unix.EAGAIN:
			now := time.Now()
			if err := p.awaitRoom(deadline.Sub(now), p.turn.Sample(now)); err != nil || p.deaf {
				return sent, err
			}
		case unix.EINTR:
		case unix.EPIPE:
			p.deaf = true // Line reports it, after the remaining output
			return sent, nil
		default:
			return sent, fmt.Errorf("match: writing to a bot: %w", errno)
		}
	}
	return sent, nil
}

func (p *process) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	p.turn.ResumeLooking(now)
	for {
		line, ok, err := p.lines.next()
		if ok || err != nil {
			return line, now, err
		}
		if left := deadline.Sub(now); left > 0 && !p.exited && !p.deaf {
			left = min(left, p.turn.Sample(now), maxSleep)
			if now, err = p.await(now, left); err != nil {
				return nil, now, err
			}
		}
		n, errno := readNow(p.stdout, p.lines.room())
		switch {
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			if p.exited || p.deaf {
				return nil, now, p.closedPipeFault(fault.InputClosed)
			}
			if !now.Before(deadline) {
				p.turn.StopLooking(now)
				return nil, now, ErrLate
			}
			if err := p.ctx.Err(); err != nil {
				return nil, now, err
			}
		case errno != 0:
			return nil, now, fmt.Errorf("match: reading from a bot: %w", errno)
		case n == 0:
			return nil, now, p.closedPipeFault(fault.OutputClosed)
		default:
			p.lines.advance(n)
		}
	}
}

// await sleeps until the bot writes, exits or closes its stdin, but not longer than left. It reads what is on stderr,
// sets p.exited after an exit, and returns the time at which it woke.
func (p *process) await(now time.Time, left time.Duration) (woken time.Time, err error) {
	if p.epoll == 0 {
		if err := p.register(); err != nil {
			return now, err
		}
	}
	var events [4]unix.EpollEvent
	n, err := unix.EpollWait(p.epoll, events[:], int((left+time.Millisecond-1)/time.Millisecond))
	if err != nil && err != unix.EINTR {
		return now, fmt.Errorf("match: waiting for a bot: %w", err)
	}
	for _, e := range events[:max(0, n)] {
		switch int(e.Fd) {
		case p.stderr:
			p.drainStderr()
		case p.pidfd:
			p.exited = true
		case p.stdin:
			p.handleClosedInput()
		}
	}
	woken = time.Now()
	p.turn.RecordSleep(now, woken, left)
	return woken, nil
}

// handleClosedInput is called when the bot has closed its stdin. If the pipe still contains lines, the bot can never
// read them, and handleClosedInput sets p.deaf: the bot is at fault. Otherwise the bot may still answer, and the next
// write fails.
func (p *process) handleClosedInput() {
	unix.EpollCtl(p.epoll, unix.EPOLL_CTL_DEL, p.stdin, nil) // otherwise it is reported again and again
	if n, err := unix.IoctlGetInt(p.stdin, unix.TIOCINQ); err == nil && n > 0 {
		p.deaf = true
	}
}

func (p *process) register() (err error) {
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("match: watching a bot: %w", err)
	}
	for _, fd := range []int{p.stdout, p.stderr, p.pidfd} {
		if fd < 0 {
			continue
		}
		if err := p.registerEvents(fd, unix.EPOLLIN); err != nil {
			return err
		}
	}
	if p.stdin >= 0 {
		return p.registerEvents(p.stdin, 0) // without events, only its closing is reported
	}
	return nil
}

func (p *process) registerEvents(fd int, events uint32) error {
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}); err != nil {
		return fmt.Errorf("match: watching a bot: %w", err)
	}
	return nil
}

// awaitRoom waits until the full pipe to the bot has room, but not longer than most. left is how much time remains
// for writing all lines; when it is over, awaitRoom returns a fault.Reason.
func (p *process) awaitRoom(left, most time.Duration) error {
	p.turn.RecordFullInput()
	fds := [3]unix.PollFd{
		{Fd: int32(p.stdin), Events: unix.POLLOUT},
		{Fd: int32(p.stderr), Events: unix.POLLIN},
		{Fd: int32(p.pidfd), Events: unix.POLLIN},
	}
	slice := min(max(0, left), most)
	ts := unix.NsecToTimespec(slice.Nanoseconds())
	n, err := unix.Ppoll(fds[:], &ts, nil)
	if err != nil && err != unix.EINTR {
		return fmt.Errorf("match: waiting for a bot: %w", err)
	}
	if fds[1].Revents != 0 {
		p.drainStderr()
	}
	if fds[2].Revents != 0 { // Line reports it, after the remaining output
		p.exited, p.deaf = true, true
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if fds[0].Revents == 0 && (left <= 0 || n == 0 && left <= slice) {
		return fault.Reason{Kind: fault.NotReading}
	}
	return nil
}

// drainStderr moves the output on stderr to the log without waiting for more. It reads at most 256 KB at once, so
// that a bot that writes without end cannot keep the referee busy.
func (p *process) drainStderr() {
	var buf [4 << 10]byte
	for range 64 {
		n, err := unix.Read(p.stderr, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			return
		}
		if err != nil || n == 0 { // the bot has closed it
			unix.Close(p.stderr)
			p.stderr = -1
			return
		}
		p.log.Write(buf[:n])
	}
}

// exitWait is how long a bot that has closed a pipe and still wants a core may take to exit. reportWait is how
// long its sandbox may take to report the exit.
const (
	exitWait   = 5 * time.Second
	reportWait = time.Minute
)

// closedPipeFault returns the fault of a bot that closed its stdin or stdout. It first waits a moment, since the bot
// may be exiting. If the bot exits, the fault says how it exited; otherwise the fault has the given kind, how.
func (p *process) closedPipeFault(how fault.Kind) error {
	moment := 100 * time.Millisecond
	if !p.isUnsandboxed() {
		moment = time.Second // a sandbox ends only after all its processes
	}
	began := time.Now()
	p.awaitExit(began.Add(moment))
	for !p.exited { // on a busy machine it takes longer
		took := time.Since(began)
		if !(took < exitWait && p.turn.WantsCore() || took < reportWait && p.hasEnded()) {
			break
		}
		p.awaitExit(time.Now().Add(moment))
	}
	if !p.exited {
		return fault.Reason{Kind: how}
	}
	if p.sandbox == nil {
		return fault.Reason{Kind: fault.Stopped}.WithUnfinishedLine(p.Rest())
	}
	return p.endFault(p.sandbox.Wait())
}

// endFault returns the fault of a bot whose sandbox ended with the status s. If the machine is to blame that the bot
// could not be started, the error is not a fault.Reason.
func (p *process) endFault(s sandbox.Status) error {
	switch s.Reason {
	case sandbox.MemoryLimit:
		return fault.Reason{Kind: fault.OutOfMemory, Limit: p.bot.Sandbox.Limit.Memory >> 20}
	case sandbox.ProcessLimit:
		r := exitReason(s.Code, s.Signal)
		r.Kind, r.Limit = fault.TooManyProcesses, int64(p.bot.Sandbox.Limit.Processes)
		return r
	case sandbox.Forbidden:
		// A program for an older processor of the same family starts, and its first system call is forbidden.
		if r, ok := ObstacleReason(p.bot.Command[0], p.bot.Dir); ok && r.Kind == fault.OtherSystem {
			return r
		}
		return fault.Reason{Kind: fault.ForbiddenCall}
	case sandbox.NotStarted:
		if s.Step == "exec" {
			return startError(p.bot, s.Err)
		}
		return fmt.Errorf("match: starting %s: %s: %w", p.bot.Name, s.Step, s.Err)
	}
	if s.Reason == sandbox.Killed && s.Signal == 0 {
		return fault.Reason{Kind: fault.Stopped}.WithUnfinishedLine(p.Rest())
	}
	return exitReason(s.Code, s.Signal).WithUnfinishedLine(p.Rest())
}

// exitReason returns the fault of a process that has ended. If signal is 0, the process exited with the given status;
// otherwise the signal ended it.
func exitReason(status int, signal syscall.Signal) fault.Reason {
	if signal != 0 {
		return fault.Reason{Kind: fault.Signalled, Signal: int(signal), Name: unix.SignalName(signal)}
	}
	return fault.Reason{Kind: fault.Exited, Status: status}
}

func (p *process) Rest() []byte { return p.lines.rest() }

func (p *process) EndTurn() {
	p.lines.endTurn()
	p.turn.End()
	if p.isFrozenBetweenTurns() {
		p.sandbox.Freeze(true) // on an error the bot keeps running
	}
}

func (p *process) Stderr() []byte {
	if p.stderr >= 0 {
		p.drainStderr()
	}
	return p.log.Take()
}

// awaitExit waits until the process has ended or the deadline has passed, and discards its output on stdout.
func (p *process) awaitExit(deadline time.Time) {
	var sink [4096]byte
	for now := time.Now(); !p.exited; {
		left := min(deadline.Sub(now), p.turn.Sample(now))
		if left <= 0 {
			return
		}
		var err error
		if now, err = p.await(now, left); err != nil {
			return
		}
		if n, err := unix.Read(p.stdout, sink[:]); n == 0 || err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			unix.Close(p.stdout) // poll and this ignore -1
			p.stdout = -1
		}
	}
}

func (p *process) Close(grace time.Duration) {
	p.turn.Close()
	if p.sandbox != nil {
		if grace > 0 {
			p.awaitExit(time.Now().Add(grace))
		}
		p.sandbox.Kill()
		p.sandbox.Wait() // the status no longer matters
	}
	if p.stderr >= 0 {
		p.drainStderr()
	}
	if p.epoll > 0 {
		unix.Close(p.epoll)
		p.epoll = 0
	}
	for _, fd := range []*int{&p.stdin, &p.stdout, &p.stderr, &p.pidfd} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

func (p *process) Memory() (used, limit int64) {
	if p.isUnsandboxed() {
		return 0, 0
	}
	return p.sandbox.Memory(), p.bot.Sandbox.Limit.Memory
}

func (p *process) CloseInput() {
	unix.Close(p.stdin)
	p.stdin = -1 // poll ignores it
}

func (p *process) Wait(deadline time.Time) (end End, ok bool) {
	p.awaitExit(deadline)
	if !p.exited && p.hasEnded() {
		p.awaitExit(time.Now().Add(reportWait)) // now the sandbox or this thread waits for a core, not the bot
	}
	if !p.exited {
		return End{}, false
	}
	if p.isUnsandboxed() { // a sandbox leaves no processes
		end.Leftovers = len(p.sandbox.MarkedProcesses())
	}
	if r, ok := errors.AsType[fault.Reason](p.closedPipeFault(fault.OutputClosed)); ok {
		end.Reason = r
	}
	return end, true
}

func (p *process) BeginTurn(now time.Time, left time.Duration) error {
	p.turn.Begin(now, left)
	return p.resume()
}

func (p *process) Loss(since, now time.Time, answered bool) fairclock.Loss {
	return p.turn.Loss(since, now, answered)
}

// hasEnded reports whether the bot has ended although the sandbox has not reported that yet. It looks for the bot
// among the children of the sandbox's init process.
func (p *process) hasEnded() bool {
	if p.isUnsandboxed() {
		return false
	}
	init := p.sandbox.Pid()
	if init == 0 {
		return true
	}
	ended := func(pid int) bool {
		f := proc.Stat("/proc/" + strconv.Itoa(pid))
		return len(f) == 0 || string(f[0]) == "Z" || string(f[0]) == "X"
	}
	lives := func(pid int) bool { return !ended(pid) }
	return slices.ContainsFunc(proc.Children(init), ended) || !slices.ContainsFunc(proc.ProcessTree(init)[1:], lives)
}

func (p *process) resume() error {
	if !p.isFrozenBetweenTurns() {
		return nil
	}
	if err := p.sandbox.Freeze(false); err != nil {
		return fmt.Errorf("match: %s: %w", strings.Join(p.bot.Command, " "), err)
	}
	return nil
}
