package faults

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/timba-arena/timba/protocol"
)

// startupLimit is the time that a bot has by default to answer "ready".
const startupLimit = 10 * time.Second

// greetingFaults are the faults at the greeting, by name.
var greetingFaults = map[string]func(*Bot){
	"no-ready":      (*Bot).reportWait,
	"exit-at-start": func(*Bot) {}, // Run exits before the greeting
	"slow-ready": func(b *Bot) {
		b.reportWait()
		time.Sleep(startupLimit + b.Delay)
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

// turnFaults are the faults at a turn, by name. move is a legal move.
var turnFaults = map[string]func(b *Bot, l protocol.RefLine, move string){
	"silent": func(b *Bot, _ protocol.RefLine, _ string) { b.reportWait() },
	"late": func(b *Bot, l protocol.RefLine, move string) {
		b.reportWait()
		time.Sleep(b.lateDelay(l))
		b.print("move " + move)
	},
	"slow-drip": drip,
	"no-lf": func(b *Bot, _ protocol.RefLine, move string) {
		b.write("move " + move)
		b.reportWait()
	},
	"no-flush": func(b *Bot, _ protocol.RefLine, move string) {
		fmt.Fprintln(bufio.NewWriter(b.Output), "move "+move)
		b.reportWait()
	},

	"illegal":        func(b *Bot, l protocol.RefLine, _ string) { b.print("move " + illegalMove(l.Moves)) },
	"illegal-syntax": func(b *Bot, _ protocol.RefLine, _ string) { b.print("move banana") },

	"garbled-text": func(b *Bot, _ protocol.RefLine, move string) { b.print("I think I will play " + move) },
	"debug-print":  printBefore("DEBUG: evaluating 3 moves"),
	"two-moves":    func(b *Bot, _ protocol.RefLine, move string) { b.print("move " + move + " " + move) },
	"empty-line":   printBefore(""),
	"not-ascii":    printBefore("# ¡órdago!"),
	"nul":          func(b *Bot, _ protocol.RefLine, move string) { b.print("move " + move + "\x00") },
	"long-line":    printBefore("#" + strings.Repeat("x", protocol.MaxLine)),
	"megabyte":     func(b *Bot, _ protocol.RefLine, _ string) { b.write(strings.Repeat("x", 1<<20)) },
	"unasked": func(b *Bot, _ protocol.RefLine, move string) {
		b.print("move " + move + "\nmove " + move)
	},

	"flood": printBefore(strings.Repeat("# and another thing\n", protocol.MaxOutput/16) + "# done"),

	"exit-0": func(b *Bot, _ protocol.RefLine, _ string) { b.Exit(0) },
	"exit-3": func(b *Bot, _ protocol.RefLine, _ string) { b.Exit(3) },
	"panic":  func(*Bot, protocol.RefLine, string) { panic("this bot misbehaves") },
	"segv":   func(*Bot, protocol.RefLine, string) { dieBySignal("SEGV") },
	"abort":  func(*Bot, protocol.RefLine, string) { dieBySignal("ABRT") },
	"half-line": func(b *Bot, _ protocol.RefLine, move string) {
		b.write("move " + move)
		b.Exit(0)
	},
	"fork-exit": func(b *Bot, _ protocol.RefLine, _ string) {
		startChild(false)
		b.Exit(0)
	},
	"close-stdout": func(b *Bot, _ protocol.RefLine, _ string) {
		b.Output.Close()
		time.Sleep(LingerTime)
	},
	"close-stdin": func(b *Bot, _ protocol.RefLine, move string) {
		b.Input.Close()
		b.print("move " + move)
		time.Sleep(LingerTime)
	},

	"crlf":         func(b *Bot, _ protocol.RefLine, move string) { b.write("info depth=1\r\nmove " + move + "\r\n") },
	"comments":     printAround("#", "# any text: 100 %  of it "),
	"infos":        printAround("info", "info score=-0.5 pv=1o,2c"),
	"long-comment": printBefore("#" + strings.Repeat("x", protocol.MaxLine-1)),
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

func printBefore(line string) func(*Bot, protocol.RefLine, string) {
	return func(b *Bot, _ protocol.RefLine, move string) { b.print(line + "\nmove " + move) }
}

func printAround(lines ...string) func(*Bot, protocol.RefLine, string) {
	text := strings.Join(lines, "\n")
	return func(b *Bot, _ protocol.RefLine, move string) {
		b.print(text + "\nmove " + move + "\n" + text)
	}
}

func (b *Bot) lateDelay(l protocol.RefLine) time.Duration {
	return time.Duration(l.MS)*time.Millisecond + b.Delay
}

// drip writes the move byte by byte. The last byte is late.
func drip(b *Bot, l protocol.RefLine, move string) {
	b.reportWait()
	line := "move " + move + "\n"
	for i := range len(line) {
		time.Sleep(b.lateDelay(l) / time.Duration(len(line)))
		b.write(line[i : i+1])
	}
}

// illegalMove returns a card move that is not in moves.
func illegalMove(moves protocol.Words) string {
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
