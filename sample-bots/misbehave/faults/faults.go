// Package faults is the bot that can fail in every way, to test referees, and the list of its faults.
package faults

import "github.com/timba-arena/timba/protocol"

// When is the moment of a fault.
type When uint8

// The moments.
const (
	Start When = iota // the greeting
	Once              // one turn
	Every             // that turn and all after it
	Bye               // the goodbye
)

// Fault is a way to misbehave.
type Fault struct {
	Name string
	Help string
	Code protocol.Code // the code of the fault, "" if the referee accepts it
	When When
}

// All is every way to misbehave.
var All = []Fault{
	{"no-ready", "does not answer the greeting", protocol.Startup, Start},
	{"slow-ready", "answers the greeting after ten seconds and the time of --late", protocol.Startup, Start},
	{"exit-at-start", "exits with status 3 before it reads a line", protocol.Startup, Start},
	{"banner", "prints another line before ready", protocol.Garbled, Start},
	{"move-first", "answers the greeting with a move", protocol.Garbled, Start},
	{"ready-twice", "answers the greeting twice", protocol.Garbled, Start},

	{"silent", "does not answer a turn", protocol.Timeout, Once},
	{"late", "answers after the turn's time and that of --late", protocol.Timeout, Once},
	{"slow-drip", "writes its answer a byte at a time, past the turn's time and that of --late", protocol.Timeout, Once},
	{"no-lf", "does not end the line of its move", protocol.Timeout, Once},
	{"no-flush", "leaves its move in a buffer", protocol.Timeout, Once},

	{"illegal", "makes a move that is not in the list", protocol.Illegal, Once},
	{"illegal-syntax", "makes a move that no game has", protocol.Illegal, Once},

	{"garbled-text", "writes its move in words", protocol.Garbled, Once},
	{"debug-print", "prints a debug line on stdout before its move", protocol.Garbled, Once},
	{"two-moves", "names two moves in one line", protocol.Garbled, Once},
	{"empty-line", "prints an empty line before its move", protocol.Garbled, Once},
	{"not-ascii", "writes a comment in UTF-8", protocol.Garbled, Once},
	{"nul", "ends the string of its move with a NUL byte", protocol.Garbled, Once},
	{"long-line", "writes a comment of 4097 bytes", protocol.Garbled, Once},
	{"megabyte", "writes a mebibyte without a line feed", protocol.Garbled, Once},
	{"unasked", "answers a turn twice; it shows at its next turn", protocol.Garbled, Once},

	{"flood", "writes more than 64 KiB of comments before its move", protocol.Output, Once},

	{"exit-0", "exits with status 0 instead of a move", protocol.Exit, Once},
	{"exit-3", "exits with status 3 instead of a move", protocol.Exit, Once},
	{"panic", "crashes with a stack trace on stderr", protocol.Exit, Once},
	{"segv", "dies of SIGSEGV", protocol.Exit, Once},
	{"abort", "dies of SIGABRT", protocol.Exit, Once},
	{"half-line", "exits in the middle of the line of its move", protocol.Exit, Once},
	{"fork-exit", "exits and leaves a child that holds its pipes open", protocol.Exit, Once},
	{"close-stdout", "closes its stdout and runs on", protocol.Exit, Once},
	{"close-stdin", "closes its stdin, moves and runs on; it shows at its next turn", protocol.Exit, Once},

	{"crlf", "ends its lines with CR LF", "", Every},
	{"comments", "writes comments before and after its move", "", Every},
	{"infos", "writes infos before and after its move", "", Every},
	{"long-comment", "writes a comment of 4096 bytes, the longest allowed", "", Every},
	{"flood-stderr", "writes a mebibyte on stderr", "", Every},
	{"fork", "starts a child that holds its pipes and outlives it", "", Once},
	{"setsid", "starts a child in another session that outlives it", "", Once},
	{"ignore-bye", "does not exit after bye", "", Bye},
}

// Find returns the fault with a name.
func Find(name string) (Fault, bool) {
	for _, f := range All {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}
