package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/protocol/words"
)

// Reason is why a bot has a fault: the error of what the bot does. Which parameters it has depends on its kind, as
// SPEC.md, "Limits and faults", lists them; the others are zero.
type Reason struct {
	Kind           Kind   `json:"kind"`
	BeforeReady    bool   `json:"before_ready"` // it came before "ready"
	Line           Raw    `json:"line"`         // of the bot, cut by protocol.Clip
	Move           Raw    `json:"move"`
	Position       int    `json:"at"`         // position of a byte in the line, from 1
	Byte           int    `json:"byte"`       // at this position
	Limit          int64  `json:"limit"`      // milliseconds, bytes, KiB, MiB or a number
	Margin         int64  `json:"margin"`     // milliseconds
	Status         int    `json:"status"`     // exit status
	Signal         int    `json:"signal"`     // that ended the process
	Name           string `json:"name"`       // of the signal, as SIGSEGV
	UnfinishedLine Raw    `json:"unfinished"` // at most 80 bytes that came after the last LF
	Detail         string `json:"detail"`     // from the rules or the system
	Command        Raw    `json:"command"`    // its words, joined by spaces
}

// Error returns the text.
func (r Reason) Error() string { return r.Text() }

// Raw is any bytes. In JSON they are escaped as in a quoted string in Go: printable
// ASCII except " and \ stands for itself.
type Raw string

// MarshalText never fails.
func (r Raw) MarshalText() ([]byte, error) {
	text := strconv.QuoteToASCII(string(r))
	return []byte(text[1 : len(text)-1]), nil
}

// UnmarshalText reads what MarshalText writes.
func (r *Raw) UnmarshalText(text []byte) error {
	s, err := strconv.Unquote(`"` + string(text) + `"`)
	*r = Raw(s)
	return err
}

// WithUnfinishedAnswer returns the reason of a bot that was late, with the line that it did not end if that
// is a whole answer or a prompt: a listed move that begins no other one, "ready" (without a name
// and version), or what asks a person for input. How much of another line has come depends on
// the time, and a repeated match gives the same reasons.
func (r Reason) WithUnfinishedAnswer(rest []byte, listed protocol.Words) Reason {
	verb, word := words.Cut(rest)
	whole := false
	switch string(verb) {
	case "ready":
		rest, whole = verb, r.Kind == NoReady
	case "move":
		whole = listed.Has(word)
		for other := range listed.All() {
			whole = whole && (len(other) == len(word) || !bytes.HasPrefix(other, word))
		}
	default:
		whole = promptEnd.Match(rest)
	}
	if !whole {
		return r
	}
	return r.WithUnfinishedLine(rest)
}

// WithUnfinishedLine returns the reason with the line that the bot did not end.
func (r Reason) WithUnfinishedLine(rest []byte) Reason {
	r.UnfinishedLine = Raw(rest[:min(len(rest), 80)])
	return r
}

// parameters are the fields of a Reason except Kind.
var parameters = func() []reflect.StructField { return reflect.VisibleFields(reflect.TypeFor[Reason]())[1:] }()

func nameOf(f reflect.StructField) string { return f.Tag.Get("json") }

// parameter returns a parameter by its name in JSON.
func (r *Reason) parameter(name string) reflect.Value {
	i := slices.IndexFunc(parameters, func(f reflect.StructField) bool { return nameOf(f) == name })
	return reflect.ValueOf(r).Elem().FieldByIndex(parameters[i].Index)
}

// MarshalJSON writes the kind, the parameters that its kind always has, and the others
// that are not zero.
func (r Reason) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // as in the replay
	add := func(name string, value any) error {
		b.WriteString(strconv.Quote(name) + ":")
		return e.Encode(value)
	}
	b.WriteByte('{')
	err := add("kind", r.Kind)
	for _, f := range parameters {
		v := reflect.ValueOf(r).FieldByIndex(f.Index)
		if !v.IsZero() || slices.Contains(r.Kind.Parameters(), nameOf(f)) {
			b.WriteByte(',')
			err = errors.Join(err, add(nameOf(f), v.Interface()))
		}
	}
	b.WriteByte('}')
	return b.Bytes(), err
}

// LineReason returns the reason of a line, or of the beginning of one, with a flaw that protocol.ParseBot finds.
func LineReason(line []byte, flaw error) Reason {
	f, _ := errors.AsType[protocol.Flaw](flaw)
	line = bytes.TrimSuffix(line, []byte("\r"))
	r := Reason{Kind: Kind(f), Line: Raw(protocol.Clip(line))}
	switch r.Kind {
	case LineTooLong:
		r.Limit = protocol.MaxLine
	case NotASCII:
		i := bytes.IndexFunc(line, func(c rune) bool { return c < ' ' || c > '~' })
		r.Position, r.Byte = i+1, int(line[i])
	}
	return r
}
