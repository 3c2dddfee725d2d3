package protocol

import (
	"fmt"

	"github.com/timba-arena/timba/protocol/words"
)

// BotVerb is the kind of a line that a bot writes to the referee.
type BotVerb uint8

// The verbs of a bot's lines. Comment is a line that begins with "#".
const (
	Ready BotVerb = iota + 1
	Move
	Info
	Comment
)

// BotLine is a parsed line of a bot. Verb says which of the other fields are set.
type BotLine struct {
	Verb          BotVerb
	Name, Version string // for Ready; "" if missing
	Move          []byte // for Move; a part of the parsed line, not a copy
	Text          []byte // for Info the text after the verb, for Comment the whole line; a part of the parsed line
}

// Flaw is the way in which a bot's line breaks the protocol. ParseBot returns it as its error.
type Flaw string

// The flaws of a line.
const (
	TooLong    Flaw = "line-too-long"
	NotASCII   Flaw = "not-ascii"
	BadSpacing Flaw = "bad-spacing"
	BadMove    Flaw = "bad-move"
	BadInfo    Flaw = "bad-info"
	BadReady   Flaw = "bad-ready"
	NoSuchLine Flaw = "no-such-line"
)

// Error describes the flaw and what a bot may write. An error message puts this text after the quoted line.
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

// ParseBot parses a line of a bot, without its LF. It ignores one CR at the end. An error is always a Flaw.
// Parsing a move, info or comment line does not allocate.
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

// CheckInfo returns nil if text may follow the verb in an info line of a bot. Otherwise it returns a Flaw.
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

// AppendReady appends to dst the line by which a bot answers the greeting. name and version may be empty;
// without a name, the version is omitted.
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

// AppendMove appends to dst the line by which a bot makes a move.
func AppendMove(dst, move []byte) []byte {
	dst = append(dst, "move "...)
	dst = append(dst, move...)
	return append(dst, '\n')
}

// AppendInfo appends to dst the line by which a bot comments on its next move. pairs has the form "key=value
// key=value".
func AppendInfo(dst, pairs []byte) []byte {
	dst = append(dst, "info"...)
	if len(pairs) > 0 {
		dst = append(append(dst, ' '), pairs...)
	}
	return append(dst, '\n')
}
