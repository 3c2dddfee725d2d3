package protocol

import (
	"fmt"
)

// BotVerb is what a bot's line is.
type BotVerb uint8

// The lines of a bot.
const (
	Ready BotVerb = iota + 1
	Move
	Info
	Comment
)

// String is the verb as it is written.
func (v BotVerb) String() string {
	switch v {
	case Ready:
		return "ready"
	case Move:
		return "move"
	case Info:
		return "info"
	case Comment:
		return "#"
	}
	return "?"
}

// BotLine is a line of a bot.
type BotLine struct {
	Verb          BotVerb
	Name, Version string // of ready, "" where not told
	Move          []byte // of move; aliases the line
	Text          []byte // of info, all after the verb; of a comment, all of it; aliases the line
}

// whereDebugBelongs ends the text of every garbled fault.
const whereDebugBelongs = "debug output belongs on stderr or in a line that begins with '#'"

// ParseBot reads a line of a bot, without its LF; one CR at its end is dropped.
// The error is the text of a Garbled fault. Nothing is allocated for move, info
// and comment lines.
func ParseBot(line []byte) (BotLine, error) {
	line = dropCR(line)
	if len(line) > MaxLine {
		return BotLine{}, garbled(line, fmt.Sprintf("is longer than %d bytes", MaxLine))
	}
	if i := unprintable(line); i >= 0 {
		return BotLine{}, garbled(line, fmt.Sprintf("is not printable ASCII: byte %d is 0x%02x", i+1, line[i]))
	}
	if len(line) > 0 && line[0] == '#' {
		return BotLine{Verb: Comment, Text: line}, nil
	}
	if badSpacing(line) {
		return BotLine{}, garbled(line, "has a space too many: tokens are separated by one space, with none before or after")
	}
	verb, rest := cut(line)
	switch string(verb) {
	case "move":
		if rest == nil || Words(rest).Len() != 1 {
			return BotLine{}, garbled(line, "is not a move: print move and one of the listed moves, as in move 12c")
		}
		return BotLine{Verb: Move, Move: rest}, nil
	case "info":
		if !Pairs(rest).areFine() {
			return BotLine{}, garbled(line, "is not an info: print key=value pairs after it, as in info score=0.5 depth=3")
		}
		return BotLine{Verb: Info, Text: rest}, nil
	case "ready":
		if Words(rest).Len() > 2 {
			return BotLine{}, garbled(line, "is not a ready: print at most a name and a version after it, without spaces in them")
		}
		name, version := cut(rest)
		return BotLine{Verb: Ready, Name: string(name), Version: string(version)}, nil
	}
	return BotLine{}, garbled(line, "is no line of the protocol: a bot prints ready, move or info")
}

func garbled(line []byte, what string) error {
	return fmt.Errorf("%s %s; %s", Quote(line), what, whereDebugBelongs)
}

// AppendReady appends a bot's answer to the greeting; name and version may be
// empty, a version without a name is left out.
func AppendReady(dst []byte, name, version string) []byte {
	dst = append(dst, "ready"...)
	if name != "" {
		dst = append(append(dst, ' '), name...)
		if version != "" {
			dst = append(append(dst, ' '), version...)
		}
	}
	return append(dst, '\n')
}

// AppendMove appends a bot's move.
func AppendMove(dst, move []byte) []byte {
	dst = append(dst, "move "...)
	dst = append(dst, move...)
	return append(dst, '\n')
}

// AppendInfo appends what a bot thought: "key=value key=value".
func AppendInfo(dst, pairs []byte) []byte {
	dst = append(dst, "info"...)
	if len(pairs) > 0 {
		dst = append(append(dst, ' '), pairs...)
	}
	return append(dst, '\n')
}
