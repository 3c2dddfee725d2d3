package referee

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fault"
)

// Process is one process of a bot, or a bot with Serve, outside a match, as for the checks of
// bots. The caller sends and reads any lines, under the limits of a match. One goroutine must use
// it, and stay on its thread (runtime.LockOSThread) from Start to Close: on Linux the process ends
// with the thread.
type Process struct {
	driven
	seat   *seat // by whose rules it is judged
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

// Start runs a bot. The error is a fault.Reason if it is the bot's fault.
func Start(ctx context.Context, b Bot) (*Process, error) {
	watch := cores.Open(AnyCore, Cores(), new(cores.Players))
	c, _, err := startBot(ctx, b, watch, begin)
	if err != nil {
		watch.Close()
		return nil, err
	}
	return drive(b, c.(driven), watch), nil
}

func drive(b Bot, c driven, w *cores.Watch) *Process {
	return &Process{driven: c, seat: &seat{Bot: b, served: b.Serve != nil, told: func() {}, conn: c}, cores: w}
}

// Limit is the time for an answer, with the credit that it can get.
type Limit struct{ answerTime }

// Limit returns the time for an answer of a bot that has so much left since a time.
func (p *Process) Limit(since time.Time, left, margin time.Duration) Limit {
	return Limit{p.seat.given(since, left, margin)}
}

// Late judges a bot that has not answered in time, or has answered now and after it, by the rules of a
// match. Its time began with the process, or the last Begin. It returns the credit, and until when to
// wait for an answer. The error is ErrLate if the bot is late by itself, and *Starved if it would need
// more credit than it can get.
func (p *Process) Late(l Limit, now time.Time, answered bool) (credit time.Duration, until time.Time, err error) {
	credit, until, err = p.seat.late(l.answerTime, now, answered, fault.Reason{})
	if o, ok := errors.AsType[lateError](err); ok {
		return o.credit, until, ErrLate
	}
	return credit, until, err
}

// Send writes lines, or pieces of lines. The error is a fault.Reason if the bot does not read
// them in time, or *Starved. If the bot has ended, the next Line reports it.
func (p *Process) Send(lines []byte, l Limit) error {
	if p.closed {
		return fmt.Errorf("referee: the input of the bot is closed")
	}
	return p.seat.write(lines, l.answerTime)
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
// when it was read. The error is ErrLate if none came by the deadline, and a fault.Reason if
// the process has ended or broken a limit.
func (p *Process) Line(deadline time.Time) ([]byte, time.Time, error) {
	if p.ended != nil {
		return nil, time.Now(), p.ended
	}
	line, at, err := p.driven.Line(time.Now(), deadline)
	if r, ok := errors.AsType[fault.Reason](err); ok && r.Code() == protocol.Exit {
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
