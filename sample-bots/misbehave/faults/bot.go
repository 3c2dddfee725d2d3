package faults

import (
	"bufio"
	"io"
	"time"

	"github.com/timba-arena/timba/protocol"
)

// Bot plays the first move of every list until its fault is due.
type Bot struct {
	Input       io.ReadCloser
	Output      io.WriteCloser
	Log         io.Writer        // its stderr
	Exit        func(status int) // does not return
	Fault       Fault
	Ply         int           // ply
	Game        int           // of this process, from 1
	Delay       time.Duration // delay beyond the time limit
	ReportWaits bool          // log Waits when others wait for it from now on

	gameCount int  // begun so far
	hasFailed bool // the fault has been made
}

// WaitsLine is the line that a bot with Tell logs.
const WaitsLine = "misbehave: waits\n"

// LingerTime limits the life of a process that others should end.
const LingerTime = time.Minute

// Run plays until bye or the end of the input.
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

// isDue reports whether to misbehave at this turn.
func (b *Bot) isDue(ply int) bool {
	switch b.Fault.Moment {
	case AtOneTurn:
		return !b.hasFailed && b.gameCount == b.Game && ply >= b.Ply
	case FromTurn:
		return b.hasFailed || b.gameCount == b.Game && ply >= b.Ply
	}
	return false
}

// print writes a line.
func (b *Bot) print(line string) { b.write(line + "\n") }

// write writes as much as the referee takes.
func (b *Bot) write(text string) { io.WriteString(b.Output, text) }

// reportWait tells that the bot has acted, and that only time will pass now.
func (b *Bot) reportWait() {
	if b.ReportWaits {
		io.WriteString(b.Log, WaitsLine)
	}
}
