package house

import (
	"fmt"
	"strconv"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/mcts"
)

// BotOption is an option of a bot that is part of timba. The embedded rules.Option defines its values, unless they
// are of a kind that a rules.Option cannot describe, such as durations.
type BotOption struct {
	rules.Option
	kind *valueKind // nil if the values are listed words or a range of numbers
}

// valueKind defines which values an option allows, if they are neither listed words nor a range of whole numbers.
// The default is the option's first value.
type valueKind struct {
	allowedText      string                      // the allowed values, for people
	canonical        func(string) (string, bool) // returns the canonical form, or false if the value is not allowed
	check            func(string) error          // returns why an allowed value cannot be used; may be nil
	isFile           bool                        // a value other than the default is the path of a file
	minimum, maximum string                      // the smallest and the greatest value; "" if the values have no order
}

// AllowedText describes the allowed values for people, such as "0 to 100".
func (o BotOption) AllowedText() string {
	if o.kind != nil {
		return o.kind.allowedText
	}
	return o.Option.AllowedText()
}

// Resolve returns the canonical form of value. It returns an error if value is not allowed or, for example,
// names a file that cannot be read.
func (o BotOption) Resolve(value string) (string, error) {
	if o.kind == nil {
		return o.Option.Resolve(value)
	}
	if text, ok := o.kind.canonical(value); ok {
		if o.kind.check != nil {
			return text, o.kind.check(text)
		}
		return text, nil
	}
	return "", phrase.Errorf("option %s cannot be %q: try %s", o.Name, value, o.AllowedText())
}

// IsText reports whether the values of the option are texts such as a duration, a fraction or the path of a file:
// neither words from a list nor whole numbers.
func (o BotOption) IsText() bool { return o.kind != nil }

// Range returns the smallest and the greatest value of an option, as texts. The values of the option must be numbers or
// durations. For other options, such as lists of words and paths of files, Range returns two empty texts.
func (o BotOption) Range() (minimum, maximum string) {
	switch {
	case o.kind != nil:
		return o.kind.minimum, o.kind.maximum
	case o.Values != nil:
		return "", ""
	}
	return strconv.Itoa(o.Min), strconv.Itoa(o.Max)
}

// memoryOption is the name of the bot option that limits the memory of a search. The value of the option is a number of
// MiB.
const memoryOption = "memory"

// forServer returns o, reduced to the values that people may choose on a server. An option for a file keeps only its
// default. The option for the memory of a search keeps the values up to its default, because a server reserves no more
// memory for a house bot. Other options do not change.
func (o BotOption) forServer() BotOption {
	switch {
	case o.kind != nil && o.kind.isFile:
		return BotOption{Option: o.Option}
	case o.Name == memoryOption:
		o.Max = o.Default
	}
	return o
}

// params gives the values of a bot's options to the bot's constructor. The constructor defines which options the
// bot has: it declares an option by reading it.
type params struct {
	options  []BotOption    // options read so far
	settings rules.Settings // values of all options; nil for the defaults
}

// readOption declares o as an option of the bot and returns the option's value. If p has no values, it returns the
// default.
func (p *params) readOption(o BotOption) string {
	p.options = append(p.options, o)
	if p.settings == nil {
		return o.DefaultText()
	}
	return p.settings.Get(o.Name)
}

// readWord declares an option whose value is one of the given words, and returns its value. The first word is
// the default. help describes the option to users.
func (p *params) readWord(name, help string, values ...string) string {
	return p.readOption(BotOption{Option: rules.Option{Name: name, Values: values, Help: help}})
}

// readInt declares an option whose value is a whole number from low to high, and returns its value. normal is
// the default.
func (p *params) readInt(name string, low, high, normal int, help string) int {
	n, _ := strconv.Atoi(p.readOption(BotOption{Option: rules.Option{Name: name, Min: low, Max: high, Default: normal, Help: help}})) // checked by Resolve
	return n
}

// readFloat declares an option whose value is a number from low to high, and returns its value. normal is the
// default.
func (p *params) readFloat(name string, low, high, normal float64, help string) float64 {
	k := &valueKind{allowedText: fmt.Sprintf("%v to %v", low, high), minimum: formatFloat(low), maximum: formatFloat(high), canonical: func(text string) (string, bool) {
		x, err := strconv.ParseFloat(text, 64)
		return formatFloat(x + 0), err == nil && x >= low && x <= high // -0 becomes 0
	}}
	x, _ := strconv.ParseFloat(p.readOption(BotOption{rules.Option{Name: name, Values: []string{formatFloat(normal)}, Help: help}, k}), 64) // checked by Resolve
	return x
}

func formatFloat(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

const maxThinkTime = time.Hour

// durationKind allows durations from 0 to one hour.
var durationKind = &valueKind{allowedText: "0s for the clock alone, or a time such as 500ms or 4s, at most 1h", minimum: "0s", maximum: "1h", canonical: func(text string) (string, bool) {
	d, err := time.ParseDuration(text)
	return d.String(), err == nil && d >= 0 && d <= maxThinkTime
}}

// readSearch declares the options that all searching bots share, and reads them. It returns the limits of a search,
// and the memory for the search's table or tree in bytes. think is the default time for a move, such as "4s"; "0s"
// means that only the clock of the game limits the time.
func (p *params) readSearch(think string) (l limits, memory int) {
	o := rules.Option{Name: "time", Values: []string{think}, Help: "how long to think about a move, 0s for as long as the clock allows"}
	l.time, _ = time.ParseDuration(p.readOption(BotOption{o, durationKind})) // checked by Resolve
	l.nodes = uint64(p.readInt("nodes", 0, 1_000_000_000, 0, "positions or iterations for a move, 0 for no limit"))
	l.lateness = initialLateness
	return l, p.readInt(memoryOption, 0, 4096, search.DefaultArena>>20, "MiB of the search's table or tree") << 20
}

// criteria maps each value of the bot option "best" to the rule by which a Monte Carlo tree search chooses its move.
var criteria = map[string]mcts.Criterion{"value": mcts.ByValue, "visits": mcts.ByVisits, "both": mcts.ByBoth, "ucb": mcts.ByBound}

// readCriterion declares the bot option "best" and returns its value: the rule by which a Monte Carlo tree search
// (package mcts) chooses its move. words are the allowed values, all of them keys of criteria, and the first one is the
// default. help describes the option to users.
func readCriterion(p *params, help string, words ...string) mcts.Criterion {
	return criteria[p.readWord("best", help, words...)]
}
