package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/timba-arena/timba/protocol"
)

// startup is the default time that a bot has for its ready.
const startup = 10 * time.Second

// starts are the faults at the greeting, by name.
var starts = map[string]func(*bot){
	"no-ready":      func(*bot) {},
	"exit-at-start": func(*bot) {}, // done before the greeting
	"slow-ready": func(b *bot) {
		time.Sleep(startup + b.late)
		b.print("ready misbehave 1")
	},
	"banner": func(b *bot) {
		b.print("misbehave, the bot that fails")
		b.print("ready misbehave 1")
	},
	"move-first": func(b *bot) { b.print("move 1o") },
	"ready-twice": func(b *bot) {
		b.print("ready misbehave 1")
		b.print("ready misbehave 1")
	},
}

// turns are the faults at a turn, by name; move is a legal one.
var turns = map[string]func(b *bot, l protocol.RefLine, move string){
	"silent": func(*bot, protocol.RefLine, string) {},
	"late": func(b *bot, l protocol.RefLine, move string) {
		time.Sleep(b.tooLong(l))
		b.print("move " + move)
	},
	"slow-drip": drip,
	"no-lf":     func(b *bot, _ protocol.RefLine, move string) { b.write("move " + move) },
	"no-flush": func(b *bot, _ protocol.RefLine, move string) {
		fmt.Fprintln(bufio.NewWriter(b.out), "move "+move)
	},

	"illegal":        func(b *bot, l protocol.RefLine, _ string) { b.print("move " + notListed(l.Moves)) },
	"illegal-syntax": func(b *bot, _ protocol.RefLine, _ string) { b.print("move banana") },

	"garbled-text": func(b *bot, _ protocol.RefLine, move string) { b.print("I think I will play " + move) },
	"debug-print":  before("DEBUG: evaluating 3 moves"),
	"two-moves":    func(b *bot, _ protocol.RefLine, move string) { b.print("move " + move + " " + move) },
	"empty-line":   before(""),
	"not-ascii":    before("# ¡órdago!"),
	"nul":          func(b *bot, _ protocol.RefLine, move string) { b.print("move " + move + "\x00") },
	"long-line":    before("#" + strings.Repeat("x", protocol.MaxLine)),
	"megabyte":     func(b *bot, _ protocol.RefLine, _ string) { b.write(strings.Repeat("x", 1<<20)) },
	"unasked": func(b *bot, _ protocol.RefLine, move string) {
		b.print("move " + move + "\nmove " + move)
	},

	"flood": before(strings.Repeat("# and another thing\n", protocol.MaxOutput/16) + "# done"),

	"exit-0": func(*bot, protocol.RefLine, string) { os.Exit(0) },
	"exit-3": func(*bot, protocol.RefLine, string) { os.Exit(3) },
	"panic":  func(*bot, protocol.RefLine, string) { panic("this bot misbehaves") },
	"segv":   func(*bot, protocol.RefLine, string) { dieOf("SEGV") },
	"abort":  func(*bot, protocol.RefLine, string) { dieOf("ABRT") },
	"half-line": func(b *bot, _ protocol.RefLine, move string) {
		b.write("move " + move)
		os.Exit(0)
	},
	"fork-exit": func(*bot, protocol.RefLine, string) {
		startChild(false)
		os.Exit(0)
	},
	"close-stdout": func(b *bot, _ protocol.RefLine, _ string) {
		b.out.Close()
		time.Sleep(linger)
	},
	"close-stdin": func(b *bot, _ protocol.RefLine, move string) {
		b.in.Close()
		b.print("move " + move)
		time.Sleep(linger)
	},

	"crlf":         func(b *bot, _ protocol.RefLine, move string) { b.write("info depth=1\r\nmove " + move + "\r\n") },
	"comments":     around("#", "# any text: 100 %  of it "),
	"infos":        around("info", "info score=-0.5 pv=1o,2c"),
	"long-comment": before("#" + strings.Repeat("x", protocol.MaxLine-1)),
	"flood-stderr": func(b *bot, _ protocol.RefLine, move string) {
		os.Stderr.WriteString(strings.Repeat("a line of a very long log\n", 1<<20/26+1))
		b.print("move " + move)
	},
	"fork": func(b *bot, _ protocol.RefLine, move string) {
		startChild(false)
		b.print("move " + move)
	},
	"setsid": func(b *bot, _ protocol.RefLine, move string) {
		startChild(true)
		b.print("move " + move)
	},
}

// before prints a line, then the move.
func before(line string) func(*bot, protocol.RefLine, string) {
	return func(b *bot, _ protocol.RefLine, move string) { b.print(line + "\nmove " + move) }
}

// around prints lines before and after the move.
func around(lines ...string) func(*bot, protocol.RefLine, string) {
	text := strings.Join(lines, "\n")
	return func(b *bot, _ protocol.RefLine, move string) {
		b.print(text + "\nmove " + move + "\n" + text)
	}
}

// tooLong sleeps until after the turn's time.
func (b *bot) tooLong(l protocol.RefLine) time.Duration {
	return time.Duration(l.MS)*time.Millisecond + b.late
}

// drip writes the move byte by byte, the last one too late.
func drip(b *bot, l protocol.RefLine, move string) {
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
