package main

import (
	"bufio"
	"os"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

// bot plays the first move of every list until its fault is due.
type bot struct {
	in, out *os.File
	fault   faults.Fault
	at      int           // ply
	game    int           // of this process, from 1
	late    time.Duration // delay beyond the time limit

	games int  // begun so far
	done  bool // the fault has been made
}

// linger limits the life of a process that others should end.
const linger = time.Minute

// run plays until bye or the end of the input.
func (b *bot) run() error {
	if b.fault.Name == "exit-at-start" {
		os.Exit(3)
	}
	lines := bufio.NewReader(b.in)
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
			if b.fault.When == faults.Bye {
				time.Sleep(linger)
			}
			return nil
		}
	}
}

func (b *bot) greet() {
	if b.fault.When == faults.Start {
		starts[b.fault.Name](b)
		return
	}
	b.print("ready misbehave 1")
}

func (b *bot) turn(l protocol.RefLine) {
	move := string(l.Moves.At(0))
	if !b.due(l.Ply) {
		b.print("move " + move)
		return
	}
	b.done = true
	turns[b.fault.Name](b, l, move)
}

// due reports whether to misbehave at this turn.
func (b *bot) due(ply int) bool {
	switch b.fault.When {
	case faults.Once:
		return !b.done && b.games == b.game && ply >= b.at
	case faults.Every:
		return b.done || b.games == b.game && ply >= b.at
	}
	return false
}

// print writes a line.
func (b *bot) print(line string) { b.write(line + "\n") }

// write writes as much as the referee takes.
func (b *bot) write(text string) { b.out.WriteString(text) }
