package protocol

import (
	"fmt"

	"github.com/timba-arena/timba/protocol/words"
)

// BotVerb is the verb of a bot's line.
type BotVerb uint8

// The verbs of a bot.
const (
	Ready BotVerb = iota + 1
	Move
	Info
	Comment
)

// BotLine is a line of a bot.
type BotLine struct {
	Verb          BotVerb
	Name, Version string // of ready, "" if missing
	Move          []byte // of move; aliases the line
	Text          []byte // of info, everything after the verb; of a comment, the whole line; aliases the line
}

// Flaw is why a line is not one that a bot may write: the error of ParseBot.
type Flaw string

// The flaws.
const (
	TooLong    Flaw = "line-too-long"
	NotASCII   Flaw = "not-ascii"
	BadSpacing Flaw = "bad-spacing"
	BadMove    Flaw = "bad-move"
	BadInfo    Flaw = "bad-info"
	BadReady   Flaw = "bad-ready"
	NoSuchLine Flaw = "no-such-line"
)

// Error returns what is wrong with the line and what a bot may write, to follow the line in a text.
func (f Flaw) Error() string {
	switch f {
	case TooLong:
		return fmt.Sprintf("is longer than %d bytes", MaxLine)
	case NotASCII:
		return "is not printable ASCII"
	case BadSpacing:
		return "has a space too many: tokens are separated by one space, with none before or after"
	case BadMove:
		return "is not a move: print move and one of the listed moves, as in move 12c"
	case BadInfo:
		return "is not an info: print key=value pairs after it, as in info score=0.5 depth=3"
	case BadReady:
		return "is not a ready: print at most a name and a version after it, without spaces in them"
	}
	return "is no line of the protocol: a bot prints ready, move or info"
}

// ParseBot parses a line of a bot, without its LF; it ignores one CR at the end. The error
// is a Flaw. Move, info and comment lines do not allocate.
func ParseBot(line []byte) (BotLine, error) {
	line = dropCR(line)
	if len(line) > MaxLine {
		return BotLine{}, TooLong
	}
	if unprintable(line) >= 0 {
		return BotLine{}, NotASCII
	}
	if len(line) > 0 && line[0] == '#' {
		return BotLine{Verb: Comment, Text: line}, nil
	}
	if badSpacing(line) {
		return BotLine{}, BadSpacing
	}
	verb, rest := words.Cut(line)
	switch string(verb) {
	case "move":
		if rest == nil || Words(rest).Len() != 1 {
			return BotLine{}, BadMove
		}
		return BotLine{Verb: Move, Move: rest}, nil
	case "info":
		if !Pairs(rest).Valid() {
			return BotLine{}, BadInfo
		}
		return BotLine{Verb: Info, Text: rest}, nil
	case "ready":
		if Words(rest).Len() > 2 {
			return BotLine{}, BadReady
		}
		name, version := words.Cut(rest)
		return BotLine{Verb: Ready, Name: string(name), Version: string(version)}, nil
	}
	return BotLine{}, NoSuchLine
}

// CheckInfo returns an error unless text can be what follows the verb in an info line of a bot. The error is a Flaw.
func CheckInfo(text []byte) error {
	switch {
	case len("info ")+len(text) > MaxLine:
		return TooLong
	case unprintable(text) >= 0:
		return NotASCII
	case badSpacing(text):
		return BadSpacing
	case !Pairs(text).Valid():
		return BadInfo
	}
	return nil
}

// AppendReady appends a bot's answer to the greeting. Name and version may be empty; a
// version without a name is left out.
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

// AppendInfo appends an info line; info is "key=value key=value".
func AppendInfo(dst, pairs []byte) []byte {
	dst = append(dst, "info"...)
	if len(pairs) > 0 {
		dst = append(append(dst, ' '), pairs...)
	}
	return append(dst, '\n')
}
