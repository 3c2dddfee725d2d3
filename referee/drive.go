package referee

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// Process is one process of a bot that somebody talks to outside of a match, as
// the checks of bots do: in and out go the lines that they like, under the limits
// that hold in a match. It belongs to one goroutine, which keeps to its thread
// (runtime.LockOSThread) from Start to Close: on Linux the process dies with it.
type Process struct {
	*process
	closed bool  // its input
	ended  error // how it has
}

// ErrLate is why a process has no line by the deadline.
var ErrLate = errLate

// Start runs a bot. The error is a *Fault when the bot is to blame.
func Start(ctx context.Context, b Bot) (*Process, error) {
	scratch, err := makeScratch()
	if err != nil {
		return nil, err
	}
	c, err := start(ctx, b, scratch, fmt.Sprintf("%d-%d", os.Getpid(), tags.Add(1)))
	if err != nil {
		dropScratch(scratch)
		return nil, err
	}
	return &Process{process: c.(*process)}, nil
}

// Send writes whole lines, or pieces of some. A bot that does not read them by
// the deadline is to blame; one that has ended is so when the next line is read.
func (p *Process) Send(lines []byte, deadline time.Time) error {
	if p.closed {
		return fmt.Errorf("referee: the input of the bot is closed")
	}
	return p.process.Send(lines, deadline)
}

// Line reads the next line of the bot, without its LF, valid until the next call,
// and when it was read. The error is ErrLate when there is none by the deadline,
// and a *Fault when the process has ended or a limit is broken.
func (p *Process) Line(deadline time.Time) ([]byte, time.Time, error) {
	if p.ended != nil {
		return nil, time.Now(), p.ended
	}
	line, at, err := p.process.Line(time.Now(), deadline)
	var f *Fault
	if errors.As(err, &f) && f.Code == protocol.Exit {
		p.ended = err
	}
	return line, at, err
}

// Rest is what the bot has written of a line that it has not ended, valid until
// the next call of Line.
func (p *Process) Rest() []byte { return p.lines.rest() }

// CloseInput lets the bot see the end of its input. It may still write.
func (p *Process) CloseInput() {
	if !p.closed {
		p.closed = true
		p.closeInput()
	}
}

// End is how a process has ended.
type End struct {
	Text   string // as a fault says it: "the process exited with status 0"
	Clean  bool   // by itself, with status 0
	Behind int    // processes that it had started and that were left then; known on Linux
}

// Wait waits until the process has ended; ok is false when it has not by the
// deadline. What it still writes on stdout is lost.
func (p *Process) Wait(deadline time.Time) (end End, ok bool) { return p.awaitEnd(deadline) }

// Close ends the process and all that it has started.
func (p *Process) Close() { p.process.Close(0) }

// AppendGame adds the line that begins a game for a seat, which is told the seed
// of its own randomness.
func AppendGame(dst []byte, v rules.Variant, c Clock, seat int, seed uint64) []byte {
	return appendGame(dst, v, c, seat, seed)
}

// AppendOthersFault adds the line that tells a seat of another's fault.
func AppendOthersFault(dst []byte, culprit int, code protocol.Code) []byte {
	return protocol.AppendFault(dst, culprit, code, brief(code))
}
