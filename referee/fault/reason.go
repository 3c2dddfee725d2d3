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

// Reason says why a bot failed. It is also the error that functions return when a bot has failed. Kind decides which
// other fields are set; SPEC.md, "Limits and faults", lists them. The remaining fields are zero. The JSON names of
// the fields are called parameters.
type Reason struct {
	Kind           Kind   `json:"kind"`
	BeforeReady    bool   `json:"before_ready"` // the bot failed before it wrote "ready"
	Line           Raw    `json:"line"`         // the line of the bot that is wrong, shortened by protocol.Clip
	Move           Raw    `json:"move"`
	Position       int    `json:"at"`         // position of a forbidden byte in the line, counted from 1
	Byte           int    `json:"byte"`       // the byte at Position
	Limit          int64  `json:"limit"`      // the limit that was exceeded, in the unit of the kind: milliseconds, seconds, bytes, KiB, MiB or a number
	Margin         int64  `json:"margin"`     // margin of the clock in milliseconds
	Status         int    `json:"status"`     // exit status of the process
	Signal         int    `json:"signal"`     // number of the signal that ended the process; 0 if none did
	Name           string `json:"name"`       // name of the signal, such as SIGSEGV; or system and processor of a program, such as windows/amd64
	UnfinishedLine Raw    `json:"unfinished"` // output of the bot after its last LF, at most 80 bytes
	Detail         string `json:"detail"`     // an error message of the rules or of the system; what a program needs that is not there; or a time
	Command        Raw    `json:"command"`    // the words of the bot's command, joined by spaces; or the file in it that cannot be executed
}

// Error returns r.Text().
func (r Reason) Error() string { return r.Text() }

// Raw is a string of arbitrary bytes. In JSON, bytes that are not printable ASCII are escaped as in a quoted string
// in Go.
type Raw string

// MarshalText returns the string with the escapes of a quoted string in Go, but without quotes. It never returns an
// error.
func (r Raw) MarshalText() ([]byte, error) {
	text := strconv.QuoteToASCII(string(r))
	return []byte(text[1 : len(text)-1]), nil
}

// UnmarshalText decodes the text that MarshalText returns.
func (r *Raw) UnmarshalText(text []byte) error {
	s, err := strconv.Unquote(`"` + string(text) + `"`)
	*r = Raw(s)
	return err
}

// WithUnfinishedAnswer returns r, the reason of a late bot, with UnfinishedLine set to rest, the bot's unfinished
// line, but only if rest is a whole answer or a prompt. A whole answer is "ready", or a move in listed that is not
// the beginning of another move there. Other unfinished lines are left out: their length depends on timing, and the
// reasons of a repeated match must be equal.
func (r Reason) WithUnfinishedAnswer(rest []byte, listed protocol.Words) Reason {
	verb, word := words.Cut(bytes.TrimSuffix(rest, []byte("\r")))
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

// WithUnfinishedLine returns a copy of r with UnfinishedLine set to the first 80 bytes of rest.
func (r Reason) WithUnfinishedLine(rest []byte) Reason {
	r.UnfinishedLine = Raw(rest[:min(len(rest), 80)])
	return r
}

var parameters = func() []reflect.StructField { return reflect.VisibleFields(reflect.TypeFor[Reason]())[1:] }()

func nameOf(f reflect.StructField) string { return f.Tag.Get("json") }

func (r *Reason) parameter(name string) reflect.Value {
	i := slices.IndexFunc(parameters, func(f reflect.StructField) bool { return nameOf(f) == name })
	return reflect.ValueOf(r).Elem().FieldByIndex(parameters[i].Index)
}

// MarshalJSON encodes the kind, the fields that every Reason of this kind contains (see Kind.Parameters), and all
// other fields that are not zero.
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

// LineReason returns the Reason for a line that breaks the protocol. flaw is the error that protocol.ParseBot
// returned for the line. If the line is too long, its beginning is enough.
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
