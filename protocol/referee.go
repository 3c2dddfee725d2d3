package protocol

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/protocol/words"
)

// RefVerb is the verb of a line of the referee.
type RefVerb uint8

// The verbs of the referee. RefUnknown is a verb of a later version, which a bot ignores.
const (
	RefUnknown RefVerb = iota
	RefTimba
	RefGame
	RefEvent
	RefView
	RefTurn
	RefFault
	RefEnd
	RefBye
)

// String returns the verb as it is written.
func (v RefVerb) String() string {
	if int(v) < len(refVerbs) {
		return refVerbs[v]
	}
	return "?"
}

var refVerbs = [...]string{"?", "timba", "game", "event", "view", "turn", "fault", "end", "bye"}

// RefLine is a line of the referee. Its texts alias the line.
type RefLine struct {
	Verb    RefVerb
	Version int       // of timba
	Name    []byte    // of game, its name; of event, its verb
	Pairs   Pairs     // of game, view and end
	Args    Words     // of event
	Ply, MS int       // of turn
	Moves   Words     // of turn
	Seat    int       // of fault
	Code    Code      // of fault
	Text    []byte    // of fault
	Ranks   []int     // of end, by seat
	Points  []float64 // of end, by seat
}

// ParseReferee parses a line of the referee, without its LF; it ignores one CR at the end.
// An unknown verb is not an error. Only end lines allocate.
func ParseReferee(line []byte) (RefLine, error) {
	line = dropCR(line)
	if i := unprintable(line); i >= 0 {
		return RefLine{}, fmt.Errorf("%s is not printable ASCII: byte %d is 0x%02x", Quote(line), i+1, line[i])
	}
	verb, rest := words.Cut(line)
	if len(verb) == 0 {
		return RefLine{}, fmt.Errorf("%s has no verb", Quote(line))
	}
	if string(verb) != "fault" && badSpacing(line) { // a fault's text is free
		return RefLine{}, fmt.Errorf("%s has a space too many", Quote(line))
	}
	l, ok := RefLine{}, true
	switch string(verb) {
	case "timba":
		l.Verb = RefTimba
		l.Version, ok = words.ParseInt(rest)
		ok = ok && l.Version > 0
	case "game":
		l.Verb = RefGame
		l.Name, rest = words.Cut(rest)
		l.Pairs = rest
		ok = len(l.Name) > 0 && l.Pairs.Valid()
	case "event":
		l.Verb = RefEvent
		l.Name, rest = words.Cut(rest)
		l.Args = rest
		ok = len(l.Name) > 0
	case "view":
		l.Verb, l.Pairs = RefView, rest
		ok = l.Pairs.Valid()
	case "turn":
		ok = l.parseTurn(rest)
	case "fault":
		ok = l.parseFault(rest)
	case "end":
		ok = l.parseEnd(rest)
	case "bye":
		l.Verb = RefBye
		ok = rest == nil
	}
	if !ok {
		return RefLine{}, fmt.Errorf("%s is not a %s line of protocol version %d", Quote(line), verb, Version)
	}
	return l, nil
}

// parseTurn parses "PLY MS MOVE..."; a turn lists at least one move.
func (l *RefLine) parseTurn(rest []byte) bool {
	ply, rest := words.Cut(rest)
	ms, rest := words.Cut(rest)
	var ok1, ok2 bool
	l.Verb = RefTurn
	l.Ply, ok1 = words.ParseInt(ply)
	l.MS, ok2 = words.ParseInt(ms)
	l.Moves = rest
	return ok1 && ok2 && l.Ply >= 0 && l.MS >= 0 && len(rest) > 0
}

// parseFault parses "SEAT CODE TEXT..."; the text may be missing. A code of a later
// version is kept.
func (l *RefLine) parseFault(rest []byte) bool {
	seat, rest := words.Cut(rest)
	code, text := words.Cut(rest)
	var ok bool
	l.Verb = RefFault
	l.Seat, ok = words.ParseInt(seat)
	l.Text = text
	if i := slices.IndexFunc(Codes, func(c Code) bool { return string(code) == string(c) }); i >= 0 {
		l.Code = Codes[i]
	} else {
		l.Code = Code(code)
	}
	spaced := text != nil && (len(text) == 0 || text[0] == ' ' || text[len(text)-1] == ' ')
	return ok && l.Seat >= 0 && len(code) > 0 && !spaced
}

// parseEnd parses "ranks=R0,R1 points=P0,P1", with as many ranks as points, and ignores
// other keys.
func (l *RefLine) parseEnd(rest []byte) bool {
	l.Verb, l.Pairs = RefEnd, rest
	ranks, ok1 := l.Pairs.Lookup("ranks")
	points, ok2 := l.Pairs.Lookup("points")
	if !ok1 || !ok2 || !l.Pairs.Valid() {
		return false
	}
	for r := range bytes.SplitSeq(ranks, []byte{','}) {
		n, ok := words.ParseInt(r)
		if !ok || n < 1 {
			return false
		}
		l.Ranks = append(l.Ranks, n)
	}
	for p := range bytes.SplitSeq(points, []byte{','}) {
		x, ok := parsePoints(p)
		if !ok {
			return false
		}
		l.Points = append(l.Points, x)
	}
	return len(l.Ranks) == len(l.Points)
}

// parsePoints parses a plain decimal number: no exponent, no infinity, no hex.
func parsePoints(b []byte) (float64, bool) {
	if len(bytes.Trim(b, "-.0123456789")) > 0 {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(b), 64)
	return x, err == nil
}
