package house

import (
	"fmt"
	"strconv"
	"time"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

// Option is an option of a bot: one of rules.Option, or one with values of its own kind.
type Option struct {
	rules.Option
	kind *kind // nil for words and numbers
}

// kind is values that are neither listed words nor whole numbers. Their default is the option's
// first value.
type kind struct {
	allowed   string
	canonical func(string) (string, bool) // false if the value is not allowed
	check     func(string) error          // why an allowed value cannot be used; may be nil
}

// Allowed returns the allowed values as text.
func (o Option) Allowed() string {
	if o.kind != nil {
		return o.kind.allowed
	}
	return o.Option.Allowed()
}

// Resolve returns the canonical text of a value, or an error.
func (o Option) Resolve(value string) (string, error) {
	if o.kind == nil {
		return o.Option.Resolve(value)
	}
	if text, ok := o.kind.canonical(value); ok {
		if o.kind.check != nil {
			return text, o.kind.check(text)
		}
		return text, nil
	}
	return "", fmt.Errorf("option %s cannot be %q: try %s", o.Name, value, o.Allowed())
}

// whole returns an option that is a whole number.
func whole(name string, low, high, normal int, help string) Option {
	return Option{Option: rules.Option{Name: name, Min: low, Max: high, Default: normal, Help: help}}
}

// decimal returns an option that is a number.
func decimal(name string, low, high, normal float64, help string) Option {
	k := &kind{allowed: fmt.Sprintf("%v to %v", low, high), canonical: func(text string) (string, bool) {
		x, err := strconv.ParseFloat(text, 64)
		return number(x), err == nil && x >= low && x <= high
	}}
	return Option{rules.Option{Name: name, Values: []string{number(normal)}, Help: help}, k}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// float returns the value of an option that is a number.
func float(s rules.Settings, name string) float64 {
	x, _ := strconv.ParseFloat(s.Get(name), 64) // checked by Resolve
	return x
}

const longestThink = time.Hour

// durations are 0 to longestThink.
var durations = &kind{allowed: "0s for the clock alone, or a time such as 500ms or 4s, at most 1h", canonical: func(text string) (string, bool) {
	d, err := time.ParseDuration(text)
	return d.String(), err == nil && d >= 0 && d <= longestThink
}}

// What every bot that searches has.
var (
	timeOption  = Option{rules.Option{Name: "time", Values: []string{"0s"}, Help: "how long to think about a move, 0s for as long as the clock allows"}, durations}
	nodesOption = whole("nodes", 0, 1_000_000_000, 0, "positions or iterations for a move, 0 for no limit")
	tableOption = whole("memory", 0, 4096, search.DefaultArena>>20, "MiB of the search's table or tree")
)

// withDefault returns an option with another default.
func (o Option) withDefault(value string) Option {
	o.Values = []string{value}
	return o
}

// duration returns the value of an option that is a time.
func duration(s rules.Settings, name string) time.Duration {
	d, _ := time.ParseDuration(s.Get(name)) // checked by Resolve
	return d
}
