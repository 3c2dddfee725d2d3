package protocol

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/protocol/words"
)

// RefVerb is the kind of a line that the referee writes to a bot.
type RefVerb uint8

// The verbs of the referee's lines. RefUnknown stands for verbs of later versions, which a bot ignores.
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

// String returns the verb as it appears in a line.
func (v RefVerb) String() string {
	if int(v) < len(refVerbs) {
		return refVerbs[v]
	}
	return "?"
}

var refVerbs = [...]string{"?", "timba", "game", "event", "view", "turn", "fault", "end", "bye"}

// RefLine is a parsed line of the referee. Verb says which of the other fields are set. Its byte slices,
// Pairs and Words are parts of the parsed line, not copies.
type RefLine struct {
	Verb    RefVerb
	Version int       // for RefTimba
	Name    []byte    // for RefGame the name of the game, for RefEvent the verb of the event
	Pairs   Pairs     // for RefGame, RefView and RefEnd
	Args    Words     // for RefEvent
	Ply, MS int       // for RefTurn; MS is the time in milliseconds
	Moves   Words     // for RefTurn: every legal move
	Seat    int       // for RefFault
	Code    Code      // for RefFault
	Text    []byte    // for RefFault
	Ranks   []int     // for RefEnd, by seat
	Points  []float64 // for RefEnd, by seat
}

// ParseReferee parses a line of the referee, without its LF. It ignores one CR at the end. A line with an
// unknown verb has the verb RefUnknown and gives no error. Only parsing end lines allocates.
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

// parseTurn parses "PLY MS MOVE...", with at least one move. It returns false if rest has another form.
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

// parseFault parses "SEAT CODE TEXT...". The text is optional, and unknown codes are accepted. It returns
// false if rest has another form.
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

// parseEnd parses "ranks=R0,R1 points=P0,P1". It returns false if a list is missing or their lengths differ.
// Other keys are ignored.
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

// parsePoints parses a decimal number without an exponent. It returns false for any other text, such as "inf".
func parsePoints(b []byte) (float64, bool) {
	if len(bytes.Trim(b, "-.0123456789")) > 0 {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(b), 64)
	return x, err == nil
}
