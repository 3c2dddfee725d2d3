package faults

import (
	"bufio"
	"io"
	"time"

	"github.com/timba-arena/timba/protocol"
)

// Bot plays the first legal move until it has to make its fault.
type Bot struct {
	Input       io.ReadCloser
	Output      io.WriteCloser
	Log         io.Writer        // stderr of the bot
	Exit        func(status int) // ends the process; must not return
	Fault       Fault
	Ply         int           // first ply at which the fault may happen
	Game        int           // game in which the fault happens; the first game of the process is 1
	Delay       time.Duration // time by which late answers exceed the limit
	ReportWaits bool          // write WaitsLine to Log when only time will pass from now on

	gameCount int  // games started so far
	hasFailed bool // the fault has been made
}

// WaitsLine is the line that a bot with ReportWaits writes to its log when the referee begins to wait for it.
const WaitsLine = "misbehave: waits\n"

// LingerTime is the lifetime of a process that the bot starts to outlive its game. It ends by itself after this
// time if the referee fails to kill it.
const LingerTime = time.Minute

// Run plays until the referee sends "bye" or the input ends. It returns an error if the referee's lines are invalid.
func (b *Bot) Run() error {
	if b.Fault.Name == "exit-at-start" {
		b.Exit(3)
	}
	lines := bufio.NewReader(b.Input)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the referee has ended
		}
		l, err := protocol.ParseReferee(line[:len(line)-1])
		if err != nil {
			return err
		}
		switch l.Verb {
		case protocol.RefTimba:
			b.greet()
		case protocol.RefGame:
			b.gameCount++
		case protocol.RefTurn:
			b.answerTurn(l)
		case protocol.RefBye:
			if b.Fault.Moment == AtGoodbye {
				time.Sleep(LingerTime)
			}
			return nil
		}
	}
}

func (b *Bot) greet() {
	if b.Fault.Moment == AtGreeting {
		greetingFaults[b.Fault.Name](b)
		return
	}
	b.print("ready misbehave 1")
}

func (b *Bot) answerTurn(l protocol.RefLine) {
	move := string(l.Moves.Token(0))
	if !b.isDue(l.Ply) {
		b.print("move " + move)
		return
	}
	b.hasFailed = true
	turnFaults[b.Fault.Name](b, l, move)
}

// isDue reports whether the bot must make its fault at the turn with the given ply (number of moves before it).
func (b *Bot) isDue(ply int) bool {
	switch b.Fault.Moment {
	case AtOneTurn:
		return !b.hasFailed && b.gameCount == b.Game && ply >= b.Ply
	case FromTurn:
		return b.hasFailed || b.gameCount == b.Game && ply >= b.Ply
	}
	return false
}

func (b *Bot) print(line string) { b.write(line + "\n") }

func (b *Bot) write(text string) { io.WriteString(b.Output, text) }

// reportWait writes WaitsLine to b.Log if ReportWaits is set. From then on the referee waits for the bot.
func (b *Bot) reportWait() {
	if b.ReportWaits {
		io.WriteString(b.Log, WaitsLine)
	}
}
