//go:build !linux

package match

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sandbox"
)

// process is a bot as a child process on systems without poll on processes: goroutines
// read its pipes.
type process struct {
	ctx     context.Context
	sandbox *sandbox.Process // of level None
	in      *os.File
	read    chan []byte    // output on stdout; closed at its end
	done    chan struct{}  // closed when the process has ended
	status  sandbox.Status // then
	lines   lineBuffer
	pending []byte // read but not split into lines yet
	mu      sync.Mutex
	log     []byte
	scratch string
}

func start(ctx context.Context, b Bot, scratch string) (c Conn, err error) {
	p := &process{ctx: ctx, read: make(chan []byte), done: make(chan struct{}), scratch: scratch}
	spec, err := b.spec(scratch)
	if err != nil {
		return nil, err
	}
	var ours [3]*os.File
	defer func() {
		for _, f := range ours {
			if err != nil {
				f.Close() // nil is fine
			}
		}
	}()
	for i, theirs := range []**os.File{&spec.Stdin, &spec.Stdout, &spec.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("match: a pipe to %s: %w", b.Name, err)
		}
		if ours[i], *theirs = r, w; i == 0 {
			ours[i], *theirs = w, r
		}
		defer (*theirs).Close()
	}
	if p.sandbox, err = sandbox.Start(spec); err != nil {
		return nil, startError(b, err)
	}
	p.in = ours[0]
	go func() {
		defer close(p.read)
		defer ours[1].Close()
		for {
			buf := make([]byte, protocol.MaxLine)
			n, err := ours[1].Read(buf)
			if n > 0 {
				select {
				case p.read <- buf[:n]:
				case <-p.ctx.Done():
				}
			}
			if err != nil {
				return
			}
		}
	}()
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		defer ours[2].Close()
		io.Copy(stderrOf{p}, ours[2])
	}()
	go func() {
		p.status = p.sandbox.Wait()
		select {
		case <-logged:
		case <-time.After(100 * time.Millisecond): // a child with stderr open
		}
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
			return nil, time.Now(), ErrLate
		}
	}
}

// gone returns the fault of a bot whose pipe has ended: how, if it runs on.
func (p *process) gone(how fault.Kind) error {
	select {
	case <-p.done:
		return exitReason(p.status)
	case <-time.After(100 * time.Millisecond):
		return fault.Reason{Kind: how}
	}
}

// exitReason returns how a process ended.
func exitReason(s sandbox.Status) fault.Reason {
	if s.Signal != 0 {
		return fault.Reason{Kind: fault.Ended, Detail: "signal: " + s.Signal.String()}
	}
	return fault.Reason{Kind: fault.Exited, Status: s.Code}
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
	p.sandbox.Kill()
	<-p.done
	p.in.Close()
	dropScratch(p.scratch)
}

func (p *process) CloseInput() { p.in.Close() }

func (p *process) Wait(deadline time.Time) (end End, ok bool) {
	go func() { // discards output, so that the process does not block
		for range p.read {
		}
	}()
	timer := time.NewTimer(max(0, time.Until(deadline)))
	defer timer.Stop()
	select {
	case <-p.done:
		return End{Reason: exitReason(p.status)}, true
	case <-timer.C:
		return End{}, false
	}
}
