package match

import (
	"context"
	"time"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
)

// BotProcess drives one bot outside of a match, by the rules of a match, for instance to check the bot. If an error
// of its methods is the bot's fault, it is a fault.Reason or a LateError. It is a *StarvedError if other programs
// kept the machine too busy. Other errors are those of the context and failures of the referee.
//
// Only one goroutine may use a BotProcess. From Start to Close it must stay on one thread (runtime.LockOSThread),
// because on Linux the bot ends with the thread that started it.
type BotProcess struct {
	processConn
	seat    seat
	monitor *fairclock.Monitor
}

// processConn is a BotConn whose input can be closed while the bot still runs.
type processConn interface {
	BotConn
	// CloseInput closes the bot's input. The bot may still write.
	CloseInput()
	// Wait waits until the process has ended, and discards its output on stdout. ok is false if the process still
	// runs at the deadline.
	Wait(deadline time.Time) (end End, ok bool)
}

// Start starts the bot b with the clock c and sends the greeting; Greet then waits for the answer. If around is not
// nil, Start calls it with the connection to the bot and uses the connection that it returns, which can, for
// instance, record the lines. The caller must call Close.
func Start(ctx context.Context, b Contestant, c referee.Clock, around func(BotConn) BotConn) (*BotProcess, error) {
	return newProcess(ctx, b, c, around, startBot)
}

func newProcess(ctx context.Context, b Contestant, c referee.Clock, around func(BotConn) BotConn, start startFunc) (*BotProcess, error) {
	p := &BotProcess{monitor: fairclock.Open(cores.Any, new(fairclock.Players))}
	t := &table{anyRemote: b.Serve != nil, reportBusy: func() {}, trace: func(int, bool, time.Time, []byte) {}}
	p.seat = seat{Contestant: b, table: t, clock: c, log: cutlog.Buffer{Limit: MaxLog}}
	t.start = func(b Contestant) (BotConn, error) {
		made, err := start(ctx, b, p.monitor)
		if err != nil {
			return nil, err
		}
		p.processConn = made.(processConn)
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

// Greet waits until the bot answers "ready", and returns the version that the bot reports. Call it once after Start.
func (p *BotProcess) Greet() (version string, err error) {
	err = p.seat.greet()
	return p.seat.version, err
}

// PlayTurn sends the bot the lines of its turn in the game g, waits for the answer, and makes that move in g.
func (p *BotProcess) PlayTurn(g *referee.Game) error {
	p.seat.place, p.seat.clock = g.Turn(), g.Record.ClockOf(g.Turn()).Clock()
	return p.seat.playTurn(g)
}

// ReadBetweenTurns reads the bot's output until the given time, while another seat is to move. The error is a fault
// if the bot writes a move, or a line that the protocol forbids.
func (p *BotProcess) ReadBetweenTurns(until time.Time) error {
	return p.seat.readBetweenTurns(time.Now(), until)
}

// AwaitLate waits for the answer of a bot after PlayTurn has returned the error late. It returns the time at which
// the answer came, or the zero time if it did not come. patience is how long to wait, not counting the time that
// other programs take from the bot.
func (p *BotProcess) AwaitLate(late LateError, patience time.Duration) (came time.Time, err error) {
	return p.seat.awaitLate(late, patience)
}

// SendLines sends the bot the lines of the game g for the given seat that were not sent yet, such as the result.
func (p *BotProcess) SendLines(g *referee.Game, seat int) error {
	now := time.Now()
	return p.seat.send(g.TakeLines(seat), now, p.seat.allowance(now, 0, g.Record.ClockOf(seat).Clock().Margin))
}

// Bye sends "bye" and waits until the bot has ended. ok is false if the bot still runs after the time grace. Time
// that other programs took does not count.
func (p *BotProcess) Bye(grace time.Duration) (end End, ok bool, err error) {
	began := time.Now()
	limit := p.seat.allowance(began, grace, 0)
	if err := p.seat.conn.BeginTurn(began, grace); err != nil {
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

// End describes how the process of a bot ended.
type End struct {
	Reason    fault.Reason // why it ended, in the form of a fault of a bot whose process ends during a game
	Leftovers int          // number of processes that it left running; only known on Linux
}

// IsClean reports whether the process exited with status 0, or Serve returned no error.
func (e End) IsClean() bool {
	return e.Reason.Kind == fault.Exited && e.Reason.Status == 0 || e.Reason.Kind == fault.Returned
}

// Close ends the bot with all its processes.
func (p *BotProcess) Close() {
	p.seat.stop(0)
	p.monitor.Close()
}
