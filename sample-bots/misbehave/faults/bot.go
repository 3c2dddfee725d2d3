package faults

import (
	"bufio"
	"io"
	"time"

	"github.com/timba-arena/timba/protocol"
)

// Bot plays the first move of every list until its fault is due.
type Bot struct {
	In    io.ReadCloser
	Out   io.WriteCloser
	Log   io.Writer        // its stderr
	Exit  func(status int) // does not return
	Fault Fault
	At    int           // ply
	Game  int           // of this process, from 1
	Late  time.Duration // delay beyond the time limit
	Tell  bool          // log Waits when others wait for it from now on

	games int  // begun so far
	done  bool // the fault has been made
}

// Waits is the line that a bot with Tell logs.
const Waits = "misbehave: waits\n"

// Linger limits the life of a process that others should end.
const Linger = time.Minute

// Run plays until bye or the end of the input.
func (b *Bot) Run() error {
	if b.Fault.Name == "exit-at-start" {
		b.Exit(3)
	}
	lines := bufio.NewReader(b.In)
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
			b.games++
		case protocol.RefTurn:
			b.turn(l)
		case protocol.RefBye:
			if b.Fault.When == Bye {
				time.Sleep(Linger)
			}
			return nil
		}
	}
}

func (b *Bot) greet() {
	if b.Fault.When == Start {
		starts[b.Fault.Name](b)
		return
	}
	b.print("ready misbehave 1")
}

func (b *Bot) turn(l protocol.RefLine) {
	move := string(l.Moves.Token(0))
	if !b.due(l.Ply) {
		b.print("move " + move)
		return
	}
	b.done = true
	turns[b.Fault.Name](b, l, move)
}

// due reports whether to misbehave at this turn.
func (b *Bot) due(ply int) bool {
	switch b.Fault.When {
	case Once:
		return !b.done && b.games == b.Game && ply >= b.At
	case Every:
		return b.done || b.games == b.Game && ply >= b.At
	}
	return false
}

// print writes a line.
func (b *Bot) print(line string) { b.write(line + "\n") }

// write writes as much as the referee takes.
func (b *Bot) write(text string) { io.WriteString(b.Out, text) }

// waits tells that the bot has acted, and that only time will pass now.
func (b *Bot) waits() {
	if b.Tell {
		io.WriteString(b.Log, Waits)
	}
}
