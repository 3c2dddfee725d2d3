// Package faults implements a bot that can fail in every way, and lists the ways. It is for tests of referees.
package faults

import "github.com/timba-arena/timba/protocol"

// Moment is when a fault happens.
type Moment uint8

// Moments of a fault.
const (
	AtGreeting Moment = iota // instead of or with the answer to the greeting
	AtOneTurn                // at one turn
	FromTurn                 // at one turn and all later ones
	AtGoodbye                // after bye
)

// Fault is a way to misbehave.
type Fault struct {
	Name   string
	Help   string
	Code   protocol.Code // fault that the referee finds; "" if it accepts the behavior
	Moment Moment
}

// All lists all faults.
var All = []Fault{
	{"no-ready", "does not answer the greeting", protocol.Startup, AtGreeting},
	{"slow-ready", "answers the greeting after ten seconds and the time of --late", protocol.Startup, AtGreeting},
	{"exit-at-start", "exits with status 3 before it reads a line", protocol.Startup, AtGreeting},
	{"banner", "prints another line before ready", protocol.Garbled, AtGreeting},
	{"move-first", "answers the greeting with a move", protocol.Garbled, AtGreeting},
	{"ready-twice", "answers the greeting twice", protocol.Garbled, AtGreeting},

	{"silent", "does not answer a turn", protocol.Timeout, AtOneTurn},
	{"late", "answers after the turn's time and that of --late", protocol.Timeout, AtOneTurn},
	{"slow-drip", "writes its answer a byte at a time, past the turn's time and that of --late", protocol.Timeout, AtOneTurn},
	{"no-lf", "does not end the line of its move", protocol.Timeout, AtOneTurn},
	{"no-flush", "leaves its move in a buffer", protocol.Timeout, AtOneTurn},

	{"illegal", "makes a move that is not in the list", protocol.Illegal, AtOneTurn},
	{"illegal-syntax", "makes a move that no game has", protocol.Illegal, AtOneTurn},

	{"garbled-text", "writes its move in words", protocol.Garbled, AtOneTurn},
	{"debug-print", "prints a debug line on stdout before its move", protocol.Garbled, AtOneTurn},
	{"two-moves", "names two moves in one line", protocol.Garbled, AtOneTurn},
	{"empty-line", "prints an empty line before its move", protocol.Garbled, AtOneTurn},
	{"not-ascii", "writes a comment in UTF-8", protocol.Garbled, AtOneTurn},
	{"nul", "ends the string of its move with a NUL byte", protocol.Garbled, AtOneTurn},
	{"long-line", "writes a comment of 4097 bytes", protocol.Garbled, AtOneTurn},
	{"megabyte", "writes a mebibyte without a line feed", protocol.Garbled, AtOneTurn},
	{"unasked", "answers a turn twice; it shows at its next turn", protocol.Garbled, AtOneTurn},

	{"flood", "writes more than 64 KiB of comments before its move", protocol.Output, AtOneTurn},

	{"exit-0", "exits with status 0 instead of a move", protocol.Exit, AtOneTurn},
	{"exit-3", "exits with status 3 instead of a move", protocol.Exit, AtOneTurn},
	{"panic", "crashes with a stack trace on stderr", protocol.Exit, AtOneTurn},
	{"segv", "dies of SIGSEGV", protocol.Exit, AtOneTurn},
	{"abort", "dies of SIGABRT", protocol.Exit, AtOneTurn},
	{"half-line", "exits in the middle of the line of its move", protocol.Exit, AtOneTurn},
	{"fork-exit", "exits and leaves a child that holds its pipes open", protocol.Exit, AtOneTurn},
	{"close-stdout", "closes its stdout and runs on", protocol.Exit, AtOneTurn},
	{"close-stdin", "closes its stdin, moves and runs on; it shows at its next turn", protocol.Exit, AtOneTurn},

	{"crlf", "ends its lines with CR LF", "", FromTurn},
	{"comments", "writes comments before and after its move", "", FromTurn},
	{"infos", "writes infos before and after its move", "", FromTurn},
	{"long-comment", "writes a comment of 4096 bytes, the longest allowed", "", FromTurn},
	{"flood-stderr", "writes a mebibyte on stderr", "", FromTurn},
	{"fork", "starts a child that holds its pipes and outlives it", "", AtOneTurn},
	{"setsid", "starts a child in another session that outlives it", "", AtOneTurn},
	{"ignore-bye", "does not exit after bye", "", AtGoodbye},
}

// Find returns the fault with a name, or false if there is none.
func Find(name string) (Fault, bool) {
	for _, f := range All {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}
