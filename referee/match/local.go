package match

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
)

// local is the connection to a bot without a process of its own. It runs Contestant.Serve, which plays the bot, in a
// goroutine. It implements BotConn.
type local struct {
	ctx        context.Context
	inbox      *inbox
	output     chan []byte
	serveDone  chan struct{} // closed when Serve has returned
	serveError error         // the error that Serve returned
	quit       chan struct{} // closed by Close
	lines      lineBuffer
	unread     []byte // output that is not in lines yet
	holds      holdTimes

	overslept time.Duration // sum of how much longer than asked the referee slept since the turn began
}

// Holder stops and restarts the clock of a bot that Contestant.Serve plays. The writer for answers that Serve gets
// implements Holder. Hold(true) stops the clock and Hold(false) restarts it. The time between does not count as the
// bot's time.
type Holder interface{ Hold(bool) }

// holdTimes adds up for how long the clock of a bot was stopped during a turn.
type holdTimes struct {
	mu    sync.Mutex
	since time.Time     // start of the current hold; zero if the clock is not held
	sum   time.Duration // sum of the earlier holds in this turn
}

// begin starts a new turn, in which the clock has not been stopped yet. If the clock is stopped at this moment, the
// stop counts from now on.
func (h *holdTimes) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sum = 0; !h.since.IsZero() {
		h.since = time.Now()
	}
}

func (h *holdTimes) hold(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if on == !h.since.IsZero() {
		return
	}
	if on {
		h.since = time.Now()
		return
	}
	h.sum += time.Since(h.since)
	h.since = time.Time{}
}

// heldTime returns for how long the clock was stopped in this turn, up to the time now. held is true if it is stopped
// now.
func (h *holdTimes) heldTime(now time.Time) (sum time.Duration, held bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.since.IsZero() {
		return h.sum, false
	}
	return h.sum + max(0, now.Sub(h.since)), true
}

// startBot runs Contestant.Serve if that is set; otherwise it starts the bot's process. w measures how much time
// other programs take from the process.
func startBot(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
	if b.Serve == nil {
		return startProcess(ctx, b, w)
	}
	return newLocal(ctx, b.Serve), nil
}

func newLocal(ctx context.Context, serve func(lines io.Reader, answers io.Writer) error) *local {
	l := &local{ctx: ctx, inbox: newInbox(), output: make(chan []byte), serveDone: make(chan struct{}), quit: make(chan struct{})}
	go func() {
		l.serveError = serve(l.inbox, outbox{l})
		close(l.serveDone)
	}()
	return l
}

// BeginTurn only begins to count how long the clock is stopped. It need not resume the bot: a bot without a process
// of its own is never stopped between turns.
func (l *local) BeginTurn(time.Time, time.Duration) error {
	l.holds.begin()
	l.overslept = 0
	return nil
}

// Loss returns for how long in this turn the clock was stopped or the referee slept too long. This time does not
// count as the bot's.
func (l *local) Loss(since, now time.Time, _ bool) fairclock.Loss {
	sum, held := l.holds.heldTime(now)
	loss := fairclock.Loss{}.Plus(min(sum+l.overslept, max(0, now.Sub(since))))
	if held {
		loss.Possible += holdStep
	}
	return loss
}

// holdStep is the interval at which the referee checks whether the clock of a bot, once stopped, runs again.
const holdStep = 50 * time.Millisecond

// Memory returns 0, since the bot has no process of its own.
func (l *local) Memory() (used, limit int64) { return 0, 0 }

func (l *local) Send(lines []byte, _ time.Time) (int, error) {
	l.inbox.put(lines)
	return len(lines), nil
}

func (l *local) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	for {
		if line, ok, err := l.lines.next(); ok || err != nil {
			return line, now, err
		}
		if len(l.unread) > 0 {
			n := copy(l.lines.room(), l.unread)
			l.lines.advance(n)
			l.unread = l.unread[n:]
			continue
		}
		if !now.Before(deadline) { // do not wait
			select {
			case l.unread = <-l.output:
				continue
			case <-l.serveDone:
				return nil, now, l.endError()
			default:
				return nil, now, ErrLate
			}
		}
		asked := min(deadline.Sub(now), maxSleep)
		select {
		case l.unread = <-l.output:
		case <-time.After(asked):
		case <-l.serveDone:
			return nil, time.Now(), l.endError()
		case <-l.ctx.Done():
			return nil, time.Now(), l.ctx.Err()
		}
		woken := time.Now()
		l.overslept += fairclock.Overslept(now, woken, asked)
		now = woken
	}
}

// endError returns why no further line can come: the match was canceled, or Serve has returned.
func (l *local) endError() error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	return l.serveReason()
}

// serveReason returns the fault of a bot whose Serve function has returned too early. It is the error of Serve if
// that is a fault.Reason, fault.Failed for any other error, and fault.Returned if there was no error.
func (l *local) serveReason() fault.Reason {
	if r, ok := errors.AsType[fault.Reason](l.serveError); ok {
		return r
	}
	if l.serveError != nil {
		return fault.Reason{Kind: fault.Failed, Detail: l.serveError.Error()}
	}
	return fault.Reason{Kind: fault.Returned}
}

func (l *local) CloseInput() { l.inbox.close() }

func (l *local) Wait(deadline time.Time) (end End, ok bool) {
	late := time.After(time.Until(deadline))
	for {
		select {
		case <-l.output:
		case <-l.serveDone:
			return End{Reason: l.serveReason()}, true
		case <-late:
			return End{}, false
		}
	}
}

func (l *local) Rest() []byte   { return l.lines.rest() }
func (l *local) EndTurn()       { l.lines.endTurn() }
func (l *local) Stderr() []byte { return nil }

// Close waits until Serve has returned, but not longer than grace. It cannot interrupt Serve, which may be waiting
// for a person.
func (l *local) Close(grace time.Duration) {
	l.inbox.close()
	if grace > 0 {
		select {
		case <-l.serveDone:
		case <-time.After(grace):
		}
	}
	close(l.quit)
}

type outbox struct{ *local }

func (o outbox) Write(p []byte) (int, error) {
	select {
	case o.output <- bytes.Clone(p):
		return len(p), nil
	case <-o.quit:
		return 0, io.ErrClosedPipe
	}
}

func (o outbox) Hold(on bool) { o.holds.hold(on) }

// inbox is an unbounded pipe from which Serve reads the lines of the referee.
type inbox struct {
	mu     sync.Mutex
	cond   *sync.Cond
	data   bytes.Buffer
	closed bool
}

func newInbox() *inbox {
	b := new(inbox)
	b.cond = sync.NewCond(&b.mu)
	return b
}

func (b *inbox) put(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data.Write(data)
	b.cond.Signal()
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.cond.Signal()
}

func (b *inbox) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.data.Len() == 0 && !b.closed {
		b.cond.Wait()
	}
	return b.data.Read(p)
}
