package faults

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/timba-arena/timba/protocol"
)

// startup is the default time that a bot has for its ready.
const startup = 10 * time.Second

// starts are the faults at the greeting, by name.
var starts = map[string]func(*Bot){
	"no-ready":      (*Bot).waits,
	"exit-at-start": func(*Bot) {}, // done before the greeting
	"slow-ready": func(b *Bot) {
		b.waits()
		time.Sleep(startup + b.Late)
		b.print("ready misbehave 1")
	},
	"banner": func(b *Bot) {
		b.print("misbehave, the bot that fails")
		b.print("ready misbehave 1")
	},
	"move-first": func(b *Bot) { b.print("move 1o") },
	"ready-twice": func(b *Bot) {
		b.print("ready misbehave 1")
		b.print("ready misbehave 1")
	},
}

// turns are the faults at a turn, by name; move is a legal one.
var turns = map[string]func(b *Bot, l protocol.RefLine, move string){
	"silent": func(b *Bot, _ protocol.RefLine, _ string) { b.waits() },
	"late": func(b *Bot, l protocol.RefLine, move string) {
		b.waits()
		time.Sleep(b.tooLong(l))
		b.print("move " + move)
	},
	"slow-drip": drip,
	"no-lf": func(b *Bot, _ protocol.RefLine, move string) {
		b.write("move " + move)
		b.waits()
	},
	"no-flush": func(b *Bot, _ protocol.RefLine, move string) {
		fmt.Fprintln(bufio.NewWriter(b.Out), "move "+move)
		b.waits()
	},

	"illegal":        func(b *Bot, l protocol.RefLine, _ string) { b.print("move " + notListed(l.Moves)) },
	"illegal-syntax": func(b *Bot, _ protocol.RefLine, _ string) { b.print("move banana") },

	"garbled-text": func(b *Bot, _ protocol.RefLine, move string) { b.print("I think I will play " + move) },
	"debug-print":  before("DEBUG: evaluating 3 moves"),
	"two-moves":    func(b *Bot, _ protocol.RefLine, move string) { b.print("move " + move + " " + move) },
	"empty-line":   before(""),
	"not-ascii":    before("# ¡órdago!"),
	"nul":          func(b *Bot, _ protocol.RefLine, move string) { b.print("move " + move + "\x00") },
	"long-line":    before("#" + strings.Repeat("x", protocol.MaxLine)),
	"megabyte":     func(b *Bot, _ protocol.RefLine, _ string) { b.write(strings.Repeat("x", 1<<20)) },
	"unasked": func(b *Bot, _ protocol.RefLine, move string) {
		b.print("move " + move + "\nmove " + move)
	},

	"flood": before(strings.Repeat("# and another thing\n", protocol.MaxOutput/16) + "# done"),

	"exit-0": func(b *Bot, _ protocol.RefLine, _ string) { b.Exit(0) },
	"exit-3": func(b *Bot, _ protocol.RefLine, _ string) { b.Exit(3) },
	"panic":  func(*Bot, protocol.RefLine, string) { panic("this bot misbehaves") },
	"segv":   func(*Bot, protocol.RefLine, string) { dieOf("SEGV") },
	"abort":  func(*Bot, protocol.RefLine, string) { dieOf("ABRT") },
	"half-line": func(b *Bot, _ protocol.RefLine, move string) {
		b.write("move " + move)
		b.Exit(0)
	},
	"fork-exit": func(b *Bot, _ protocol.RefLine, _ string) {
		startChild(false)
		b.Exit(0)
	},
	"close-stdout": func(b *Bot, _ protocol.RefLine, _ string) {
		b.Out.Close()
		time.Sleep(Linger)
	},
	"close-stdin": func(b *Bot, _ protocol.RefLine, move string) {
		b.In.Close()
		b.print("move " + move)
		time.Sleep(Linger)
	},

	"crlf":         func(b *Bot, _ protocol.RefLine, move string) { b.write("info depth=1\r\nmove " + move + "\r\n") },
	"comments":     around("#", "# any text: 100 %  of it "),
	"infos":        around("info", "info score=-0.5 pv=1o,2c"),
	"long-comment": before("#" + strings.Repeat("x", protocol.MaxLine-1)),
	"flood-stderr": func(b *Bot, _ protocol.RefLine, move string) {
		io.WriteString(b.Log, strings.Repeat("a line of a very long log\n", 1<<20/26+1))
		b.print("move " + move)
	},
	"fork": func(b *Bot, _ protocol.RefLine, move string) {
		startChild(false)
		b.print("move " + move)
	},
	"setsid": func(b *Bot, _ protocol.RefLine, move string) {
		startChild(true)
		b.print("move " + move)
	},
}

// before prints a line, then the move.
func before(line string) func(*Bot, protocol.RefLine, string) {
	return func(b *Bot, _ protocol.RefLine, move string) { b.print(line + "\nmove " + move) }
}

// around prints lines before and after the move.
func around(lines ...string) func(*Bot, protocol.RefLine, string) {
	text := strings.Join(lines, "\n")
	return func(b *Bot, _ protocol.RefLine, move string) {
		b.print(text + "\nmove " + move + "\n" + text)
	}
}

// tooLong sleeps until after the turn's time.
func (b *Bot) tooLong(l protocol.RefLine) time.Duration {
	return time.Duration(l.MS)*time.Millisecond + b.Late
}

// drip writes the move byte by byte, the last one too late.
func drip(b *Bot, l protocol.RefLine, move string) {
	b.waits()
	line := "move " + move + "\n"
	for i := range len(line) {
		time.Sleep(b.tooLong(l) / time.Duration(len(line)))
		b.write(line[i : i+1])
	}
}

// notListed returns a card move that is not in a list.
func notListed(moves protocol.Words) string {
	for i := 0; ; i++ {
		move := fmt.Sprintf("%d%c", i/4%12+1, "oceb"[i%4])
		if i >= 48 {
			move = fmt.Sprint(i - 48)
		}
		if !moves.Has([]byte(move)) {
			return move
		}
	}
}
