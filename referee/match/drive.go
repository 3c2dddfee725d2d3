package match

import (
	"context"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
)

// Process is one process of a bot outside a match, as for the checks of bots, under the rules of a
// match. Its errors are a fault.Reason if it is the bot's fault, perhaps a LateError, or else *Starved, the
// context's or internal. One goroutine must use it, and stay on its thread (runtime.LockOSThread) from
// Start to Close: on Linux the process ends with the thread.
type Process struct {
	driven
	seat  seat
	watch *fairclock.Watch
}

// driven is a Conn whose bot may run on when its input is closed.
type driven interface {
	Conn
	// CloseInput closes the bot's input. The bot may still write.
	CloseInput()
	// Wait waits until the process has ended; ok is false if it has not by the deadline. Its
	// further output on stdout is discarded.
	Wait(deadline time.Time) (end End, ok bool)
}

// Start runs a bot and sends the greeting, which it has to answer by a clock. If around is not nil, the lines go
// through what it returns.
func Start(ctx context.Context, b Bot, c referee.Clock, around func(Conn) Conn) (*Process, error) {
	return drive(ctx, b, c, around, begin)
}

func drive(ctx context.Context, b Bot, c referee.Clock, around func(Conn) Conn, start startFunc) (*Process, error) {
	p := &Process{watch: fairclock.Open(cores.Any, new(fairclock.Players))}
	t := &table{anyRemote: b.Serve != nil, reportBusy: func() {}, trace: func(int, bool, time.Time, []byte) {}}
	p.seat = seat{Bot: b, table: t, clock: c}
	t.start = func(b Bot) (Conn, error) {
		made, err := start(ctx, b, p.watch)
		if err != nil {
			return nil, err
		}
		p.driven = made.(driven)
		if around != nil {
			made = around(made)
		}
		return made, nil
	}
	if err := p.seat.launch(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Greet waits until the bot is ready, and returns the version that it reports.
func (p *Process) Greet() (version string, err error) {
	err = p.seat.greet()
	return p.seat.version, err
}

// Ask sends the bot its turn, and makes the move that it answers with.
func (p *Process) Ask(g *referee.Game) error {
	p.seat.place, p.seat.clock = g.Turn(), g.Record.ClockOf(g.Turn()).Clock()
	return p.seat.ask(g)
}

// Await reads what the bot writes until a time while it has no turn: only comments and infos are allowed.
func (p *Process) Await(until time.Time) error { return p.seat.early(time.Now(), until) }

// AwaitLate waits for an answer that is late for some of the bot's own time, and returns when it came: zero if
// it did not.
func (p *Process) AwaitLate(late LateError, patience time.Duration) (came time.Time, err error) {
	return p.seat.awaitLate(late, patience)
}

// Tell sends the bot the lines for its seat that it was not sent yet.
func (p *Process) Tell(g *referee.Game, seat int) error {
	now := time.Now()
	return p.seat.send(g.Take(seat), now, p.seat.allowance(now, 0, g.Record.ClockOf(seat).Clock().Margin))
}

// Bye sends "bye" and waits until the bot has ended; ok is false if it runs on after the grace and its credit.
func (p *Process) Bye(grace time.Duration) (end End, ok bool, err error) {
	began := time.Now()
	limit := p.seat.allowance(began, grace, 0)
	if err := p.seat.conn.Begin(began, grace); err != nil {
		return end, false, err
	}
	if err := p.seat.send(protocol.AppendBye(nil), began, limit); err != nil {
		return end, false, err
	}
	for until := limit.Due; ; {
		if end, ok := p.Wait(until); ok {
			return end, true, nil
		}
		verdict, err := p.seat.judge(limit, time.Now(), false, fault.Reason{})
		if verdict.Late() {
			return end, false, nil
		}
		if err != nil {
			return end, false, err
		}
		until = verdict.Deadline
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

// Close ends the process and all processes that it has started.
func (p *Process) Close() {
	p.seat.stop(0)
	p.watch.Close()
}
