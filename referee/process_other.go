//go:build !linux

package referee

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fault"
)

// process is a bot as a child process on systems without poll on processes: goroutines
// read its pipes.
type process struct {
	ctx     context.Context
	cmd     *exec.Cmd
	in      io.WriteCloser
	sent    chan error
	read    chan []byte   // output on stdout; closed at its end
	done    chan struct{} // closed when the process has ended
	lines   lineBuffer
	pending []byte // read but not split into lines yet
	mu      sync.Mutex
	log     []byte
	scratch string
}

func start(ctx context.Context, b Bot, scratch, tag string) (conn, error) {
	if b.Sandbox != nil {
		return nil, fmt.Errorf("referee: starting %s: this system has no sandbox", b.Name)
	}
	p := &process{ctx: ctx, cmd: b.command(scratch, tag), read: make(chan []byte), done: make(chan struct{}), scratch: scratch}
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("referee: a pipe to %s: %w", b.Name, err)
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("referee: a pipe to %s: %w", b.Name, err)
	}
	p.in, p.cmd.Stdout, p.cmd.Stderr = stdin, out, stderrOf{p}
	p.cmd.WaitDelay = 100 * time.Millisecond // a child with stderr open must not block Wait
	if err := p.cmd.Start(); err != nil {
		stdout.Close()
		out.Close()
		dropScratch(scratch)
		return nil, notStarted(b, err.Error())
	}
	out.Close()
	go func() {
		defer close(p.read)
		for {
			buf := make([]byte, protocol.MaxLine)
			n, err := stdout.Read(buf)
			if n > 0 {
				select {
				case p.read <- buf[:n]:
				case <-p.ctx.Done():
				}
			}
			if err != nil {
				stdout.Close()
				return
			}
		}
	}()
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// stderrOf collects the stderr of a process.
type stderrOf struct{ p *process }

func (w stderrOf) Write(data []byte) (int, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	w.p.log = keepStderr(w.p.log, data)
	return len(data), nil
}

// Begin does nothing: no bot is ever stopped here.
func (p *process) Begin(time.Time, time.Duration) error { return nil }

// Lost returns nothing: nobody counts here for whom the cores work.
func (p *process) Lost(time.Time, time.Time, bool) cores.Lost { return cores.Lost{} }

// observe does nothing, for the same reason.
func (p *process) observe(*cores.Watch, *cores.Reading) {}

func (p *process) Send(lines []byte, deadline time.Time) (int, error) {
	sent := make(chan error, 1)
	own := append([]byte(nil), lines...)
	go func() {
		_, err := p.in.Write(own)
		sent <- err
	}()
	timer := time.NewTimer(max(time.Until(deadline), 50*time.Millisecond))
	defer timer.Stop()
	select {
	case err := <-sent:
		if err != nil {
			return 0, p.gone(fault.InputClosed)
		}
		return len(lines), nil
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	case <-timer.C:
		return len(lines), notReading // the goroutine still writes
	}
}

func (p *process) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	timer := time.NewTimer(max(0, deadline.Sub(now)))
	defer timer.Stop()
	for {
		if n := copy(p.lines.room(), p.pending); n > 0 {
			p.pending = p.pending[n:]
			p.lines.added(n)
		}
		line, ok, err := p.lines.next()
		if ok || err != nil {
			return line, now, err
		}
		select {
		case data, open := <-p.read:
			now = time.Now()
			if !open {
				return nil, now, p.gone(fault.OutputClosed)
			}
			p.pending = data
		case <-p.ctx.Done():
			return nil, now, p.ctx.Err()
		case <-timer.C:
			return nil, time.Now(), errLate
		}
	}
}

// gone returns the fault of a bot whose pipe has ended: how, if it runs on.
func (p *process) gone(how fault.Kind) error {
	select {
	case <-p.done:
		return exitReason(p.cmd.ProcessState)
	case <-time.After(100 * time.Millisecond):
		return fault.Reason{Kind: how}
	}
}

// exitReason returns how a process ended.
func exitReason(s *os.ProcessState) fault.Reason {
	if s.ExitCode() < 0 {
		return fault.Reason{Kind: fault.Ended, Detail: s.String()}
	}
	return fault.Reason{Kind: fault.Exited, Status: s.ExitCode()}
}

func (p *process) Rest() []byte { return p.lines.rest() }

func (p *process) Answered() { p.lines.answered() }

func (p *process) Stderr() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	log := p.log
	p.log = nil
	return log
}

func (p *process) Close(grace time.Duration) {
	go func() { // unblock the reader
		for range p.read {
		}
	}()
	if grace > 0 {
		select {
		case <-p.done:
		case <-time.After(grace):
		}
	}
	if err := p.cmd.Process.Kill(); err == nil || errors.Is(err, os.ErrProcessDone) {
		<-p.done
	}
	p.in.Close()
	dropScratch(p.scratch)
}
