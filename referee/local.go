package referee

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sandbox"
)

// local is a bot without a process: Bot.Serve in a goroutine of its own.
type local struct {
	ctx     context.Context
	in      *inbox
	out     chan []byte
	ended   chan struct{} // Serve has returned
	why     error         // what it returned
	closed  chan struct{}
	lines   lineBuffer
	unread  []byte // output that is not split into lines yet
	scratch string
	watch   stopwatch
}

// Holder is what Serve's answers are, too: Hold(true) makes the clock of the bot stand still,
// until Hold(false). What came meanwhile counts as if it came at the moment of the stop.
type Holder interface{ Hold(bool) }

// stopwatch tells the time of a bot's clock, which does not go on while it is held.
type stopwatch struct {
	mu      sync.Mutex
	held    time.Time     // since when; zero: it goes on
	lost    time.Duration // earlier holds, since the last turn
	changed chan struct{} // closed and replaced
}

// start begins a turn: the bot's time is that of everybody.
func (s *stopwatch) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost = 0; !s.held.IsZero() {
		s.held = time.Now()
	}
}

func (s *stopwatch) hold(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on == !s.held.IsZero() {
		return
	}
	now := time.Now()
	if on {
		s.held = now
	} else {
		s.lost += now.Sub(s.held)
		s.held = time.Time{}
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// now returns the bot's time, whether it stands still, and a channel that is closed when that
// changes.
func (s *stopwatch) now() (now time.Time, held bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held = !s.held.IsZero(); held {
		return s.held.Add(-s.lost), held, s.changed
	}
	return time.Now().Add(-s.lost), held, s.changed
}

// begin starts a bot, as a process or with Serve.
func begin(ctx context.Context, b Bot, scratch, tag string) (conn, error) {
	if b.Serve == nil {
		return start(ctx, b, scratch, tag)
	}
	l := &local{
		ctx:     ctx,
		in:      newInbox(),
		out:     make(chan []byte),
		ended:   make(chan struct{}),
		closed:  make(chan struct{}),
		scratch: scratch,
		watch:   stopwatch{changed: make(chan struct{})},
	}
	go func() {
		l.why = b.Serve(l.in, outbox{l})
		close(l.ended)
	}()
	return l, nil
}

// Wake does nothing: such a bot is never stopped.
func (l *local) Wake() error { return nil }

func (l *local) Send(lines []byte, _ time.Time) error {
	l.watch.start()
	l.in.put(lines)
	return nil
}

func (l *local) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	for {
		if line, ok, err := l.lines.next(); ok || err != nil {
			return line, now, err
		}
		if len(l.unread) > 0 {
			n := copy(l.lines.room(), l.unread)
			l.lines.added(n)
			l.unread = l.unread[n:]
			continue
		}
		if !now.Before(deadline) { // only what is there
			select {
			case l.unread = <-l.out:
				continue
			case <-l.ended:
				return nil, now, l.gone()
			default:
				return nil, now, errLate
			}
		}
		var err error
		if now, err = l.wait(deadline); err != nil {
			return nil, now, err
		}
	}
}

// wait returns when the bot has written something, and the time of its clock then.
func (l *local) wait(deadline time.Time) (time.Time, error) {
	for {
		now, held, changed := l.watch.now()
		var late <-chan time.Time
		if !held {
			late = time.After(deadline.Sub(now))
		}
		var err error
		select {
		case l.unread = <-l.out:
		case <-l.ended:
			err = l.gone()
		case <-l.ctx.Done():
			err = l.ctx.Err()
		case <-late:
			err = errLate
		case <-changed:
			continue
		}
		now, _, _ = l.watch.now()
		return now, err
	}
}

// gone returns why no more lines can come: the match was cancelled, or the bot has ended.
func (l *local) gone() error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	var f *Fault
	if errors.As(l.why, &f) {
		return fault.New(f.Reason)
	}
	if l.why != nil {
		return fault.New(fault.Reason{Kind: fault.Failed, Detail: l.why.Error()})
	}
	return fault.New(fault.Reason{Kind: fault.Returned})
}

func (l *local) Rest() []byte   { return l.lines.rest() }
func (l *local) Answered()      { l.lines.answered() }
func (l *local) Stderr() []byte { return nil }

// Usage returns nothing: the bot is part of this process.
func (l *local) Usage() sandbox.Usage { return sandbox.Usage{} }

// Close waits for Serve at most for the grace: it cannot be ended from outside, for
// example while it asks a person for a line.
func (l *local) Close(grace time.Duration) {
	l.in.close()
	if grace > 0 {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-l.ended:
		case <-timer.C:
		}
	}
	close(l.closed)
	dropScratch(l.scratch)
}

// outbox is the writer that Serve writes to.
type outbox struct{ *local }

func (o outbox) Write(p []byte) (int, error) {
	select {
	case o.out <- bytes.Clone(p):
		return len(p), nil
	case <-o.closed:
		return 0, io.ErrClosedPipe
	}
}

// Hold implements Holder.
func (o outbox) Hold(on bool) { o.watch.hold(on) }

// inbox is the reader that Serve reads from: a pipe with an unlimited buffer.
type inbox struct {
	mu      sync.Mutex
	changed *sync.Cond
	data    []byte
	ended   bool
}

func newInbox() *inbox {
	b := new(inbox)
	b.changed = sync.NewCond(&b.mu)
	return b
}

func (b *inbox) put(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, data...)
	b.changed.Signal()
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.changed.Signal()
}

func (b *inbox) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.data) == 0 && !b.ended {
		b.changed.Wait()
	}
	if len(b.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}
