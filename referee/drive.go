package referee

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules"
)

// Process is one process of a bot, or a bot with Serve, outside a match, as for the checks of
// bots. The caller sends and reads any lines, under the limits of a match. One goroutine must use
// it, and stay on its thread (runtime.LockOSThread) from Start to Close: on Linux the process ends
// with the thread.
type Process struct {
	driven
	game   *game // in which it alone has a seat, and by whose rules it is judged
	cores  *cores.Watch
	closed bool  // whether its input is closed
	ended  error // how it ended
}

// driven is a conn whose bot may run on when its input is closed.
type driven interface {
	conn
	closeInput()
	awaitEnd(deadline time.Time) (end End, ok bool)
}

// ErrLate is the error of Process.Line when no line came by the deadline.
var ErrLate = errLate

// Start runs a bot. The error is a *Fault if it is the bot's fault.
func Start(ctx context.Context, b Bot) (*Process, error) {
	scratch, err := b.makeScratch()
	if err != nil {
		return nil, err
	}
	watch := cores.Open(AnyCore, Cores(), new(cores.Players))
	first := watch.Read(time.Now())
	c, err := begin(ctx, b, scratch)
	if err != nil {
		watch.Close()
		dropScratch(scratch)
		return nil, err
	}
	if c, ok := c.(*process); ok {
		c.observe(watch, first)
	}
	return drive(b, c.(driven), watch), nil
}

func drive(b Bot, c driven, w *cores.Watch) *Process {
	alone := &table{match: &Match{Bots: []Bot{b}}, told: func() {}, chairs: []*chair{{conn: c}}}
	return &Process{driven: c, game: &game{table: alone}, cores: w}
}

// Limit is the time for an answer, with the credit that it can get.
type Limit struct{ answerTime }

// Limit returns the time for an answer of a bot that has so much left since a time.
func (p *Process) Limit(since time.Time, left, margin time.Duration) Limit {
	return Limit{p.game.given(0, since, left, margin)}
}

// Late judges a bot that has not answered in time, or has answered now and after it, by the rules of a
// match. Its time began with the process, or the last Begin. It returns the credit, and until when to
// wait for an answer. The error is ErrLate if the bot is late by itself, and *Starved if it would need
// more credit than it can get.
func (p *Process) Late(l Limit, now time.Time, answered bool) (credit time.Duration, until time.Time, err error) {
	blamed := new(Fault)
	credit, until, err = p.game.late(0, l.answerTime, now, answered, blamed)
	if err == error(blamed) {
		return credited(blamed.Credit), until, ErrLate
	}
	return credit, until, err
}

// Send writes lines, or pieces of lines. The error is a *Fault if the bot does not read
// them in time, or *Starved. If the bot has ended, the next Line reports it.
func (p *Process) Send(lines []byte, l Limit) error {
	if p.closed {
		return fmt.Errorf("referee: the input of the bot is closed")
	}
	return p.game.write(0, lines, l.answerTime)
}

// Answer is as Line, but waits as long as the bot has time and credit. The credit is that of a line that
// is late, or that did not come.
func (p *Process) Answer(l Limit) (line []byte, at time.Time, credit time.Duration, err error) {
	for deadline := l.due; ; {
		line, at, err = p.Line(deadline)
		came := err == nil
		if !errors.Is(err, ErrLate) && !(came && at.After(l.due)) {
			return line, at, 0, err
		}
		if credit, deadline, err = p.Late(l, at, came && isAnswer(line)); came || err != nil {
			return line, at, credit, err
		}
	}
}

// Line returns the next line of the bot, without its LF, valid until the next call, and
// when it was read. The error is ErrLate if none came by the deadline, and a *Fault if the
// process has ended or broken a limit.
func (p *Process) Line(deadline time.Time) ([]byte, time.Time, error) {
	if p.ended != nil {
		return nil, time.Now(), p.ended
	}
	line, at, err := p.driven.Line(time.Now(), deadline)
	var f *Fault
	if errors.As(err, &f) && f.Code == protocol.Exit {
		p.ended = err
	}
	return line, at, err
}

// CloseInput closes the bot's input. The bot may still write.
func (p *Process) CloseInput() {
	if !p.closed {
		p.closed = true
		p.closeInput()
	}
}

// End is how a process ended.
type End struct {
	Reason fault.Reason // as in a fault
	Behind int          // processes that it left running; only known on Linux
}

// Clean reports whether the process exited with status 0, or Serve returned no error.
func (e End) Clean() bool {
	return e.Reason.Kind == fault.Exited && e.Reason.Status == 0 || e.Reason.Kind == fault.Returned
}

// Wait waits until the process has ended; ok is false if it has not by the deadline. Its
// further output on stdout is discarded.
func (p *Process) Wait(deadline time.Time) (end End, ok bool) { return p.awaitEnd(deadline) }

// Close ends the process and all processes that it has started.
func (p *Process) Close() {
	p.driven.Close(0)
	p.cores.Close()
}

// AppendGame appends the line that begins a game for a seat; seed is for the bot's own
// randomness.
func AppendGame(dst []byte, v *rules.Variant, c Clock, seat int, seed uint64) []byte {
	return appendGame(dst, v, c, seat, seed)
}
