package protocol

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// RefVerb is what a line of the referee is.
type RefVerb uint8

// The lines of the referee. RefUnknown is a verb of a later version: a bot ignores it.
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

// String is the verb as it is written.
func (v RefVerb) String() string {
	if int(v) < len(refVerbs) {
		return refVerbs[v]
	}
	return "?"
}

var refVerbs = [...]string{"?", "timba", "game", "event", "view", "turn", "fault", "end", "bye"}

// RefLine is a line of the referee. All that is text aliases the line.
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

// ParseReferee reads a line of the referee, without its LF; one CR at its end
// is dropped. A verb that it does not know is no error. Only end lines allocate.
func ParseReferee(line []byte) (RefLine, error) {
	line = dropCR(line)
	if i := unprintable(line); i >= 0 {
		return RefLine{}, fmt.Errorf("%s is not printable ASCII: byte %d is 0x%02x", Quote(line), i+1, line[i])
	}
	verb, rest := cut(line)
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
		l.Version, ok = parseInt(rest)
		ok = ok && l.Version > 0
	case "game":
		l.Verb = RefGame
		l.Name, rest = cut(rest)
		l.Pairs = rest
		ok = len(l.Name) > 0 && l.Pairs.areFine()
	case "event":
		l.Verb = RefEvent
		l.Name, rest = cut(rest)
		l.Args = rest
		ok = len(l.Name) > 0
	case "view":
		l.Verb, l.Pairs = RefView, rest
		ok = l.Pairs.areFine()
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

// parseTurn reads "PLY MS MOVE..."; a turn lists at least one move.
func (l *RefLine) parseTurn(rest []byte) bool {
	ply, rest := cut(rest)
	ms, rest := cut(rest)
	var ok1, ok2 bool
	l.Verb = RefTurn
	l.Ply, ok1 = parseInt(ply)
	l.MS, ok2 = parseInt(ms)
	l.Moves = rest
	return ok1 && ok2 && l.Ply >= 0 && l.MS >= 0 && len(rest) > 0
}

// parseFault reads "SEAT CODE TEXT...", of which the text may be missing. A
// code of a later version is kept as it is.
func (l *RefLine) parseFault(rest []byte) bool {
	seat, rest := cut(rest)
	code, text := cut(rest)
	var ok bool
	l.Verb = RefFault
	l.Seat, ok = parseInt(seat)
	l.Text = text
	if i := slices.IndexFunc(Codes, func(c Code) bool { return string(code) == string(c) }); i >= 0 {
		l.Code = Codes[i]
	} else {
		l.Code = Code(code)
	}
	spaced := text != nil && (len(text) == 0 || text[0] == ' ' || text[len(text)-1] == ' ')
	return ok && l.Seat >= 0 && len(code) > 0 && !spaced
}

// parseEnd reads "ranks=R0,R1 points=P0,P1", as many of the one as of the other,
// and lets other keys be.
func (l *RefLine) parseEnd(rest []byte) bool {
	l.Verb, l.Pairs = RefEnd, rest
	ranks, ok1 := l.Pairs.Lookup("ranks")
	points, ok2 := l.Pairs.Lookup("points")
	if !ok1 || !ok2 || !l.Pairs.areFine() {
		return false
	}
	for r := range bytes.SplitSeq(ranks, []byte{','}) {
		n, ok := parseInt(r)
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

// parsePoints reads a plain decimal number: no exponent, no infinity, no hex.
func parsePoints(b []byte) (float64, bool) {
	for _, c := range b {
		if c != '-' && c != '.' && (c < '0' || c > '9') {
			return 0, false
		}
	}
	x, err := strconv.ParseFloat(string(b), 64)
	return x, err == nil
}
