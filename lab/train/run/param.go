package run

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Param is a setting of a training: a flag of its command, whose value it is for pflag, and a key
// of the models in experiments.
type Param struct {
	Name, Help     string
	Target         any      // a pointer to what is set: a bool, a number, a text or a list of texts
	Min, Max       float64  // of an int or a float64
	ExcludeMin     bool     // the number is above Min
	Choices        []string // that a text can be; nil for any
	Repeated       bool     // each text of a list has a flag of its own; else commas join them
	NoValueDefault string   // the value of the flag without one
	Scaled         bool     // how much is learned from: experiments take a part of it
	FlagOnly       bool     // a flag alone, and no key of an experiment
}

// DefaultMode is that of a training that names none.
const DefaultMode = "brisca2"

// CommonParams returns the settings that all trainings have.
func CommonParams(mode *string, seed *uint64) []Param {
	return []Param{
		ChoiceParam("mode", mode, cards.ModeNames(), "the game and its seats"),
		{Name: "seed", Target: seed, Help: "the seed of everything random", FlagOnly: true},
	}
}

// ChoiceParam returns a setting that is one of some words.
func ChoiceParam(name string, to *string, words []string, help string) Param {
	return Param{Name: name, Target: to, Choices: words, Help: help + ": one of " + strings.Join(words, ", ")}
}

// RulesParam returns the setting of the optional rules of the games that are learned from. How says how
// all combinations of them are played.
func RulesParam(to *string, how string) Param {
	return Param{Name: "rules", Target: to, Help: "the optional rules: all combinations " + how + ", none, or one as `DIGITS` 0 or 1 for " +
		"exchange, last10, blackhand and, with two players, hunt3"}
}

// DefectsParam returns the setting of the study's defects that are kept.
func DefectsParam(to *[]string, known []Defect) Param {
	var names []string
	for _, d := range known {
		names = append(names, d.Name+" ("+d.Help+")")
	}
	return Param{Name: "as-published", Target: to, NoValueDefault: AllDefects, FlagOnly: true,
		Help: "keep defects of the study, a `LIST` joined by commas, or all: " + strings.Join(names, ", ")}
}

// Set sets the value from a text. An error does not name the value: see Allowed.
func (p *Param) Set(text string) (err error) {
	switch to := p.Target.(type) {
	case *bool:
		*to, err = strconv.ParseBool(text)
	case *uint64:
		*to, err = strconv.ParseUint(text, 0, 64)
	case *string:
		if p.Choices != nil && !slices.Contains(p.Choices, text) {
			return errors.New(p.Allowed())
		}
		*to = text
	case *[]string:
		switch {
		case p.Repeated:
			*to = append(*to, text)
		case text == "":
			*to = nil
		default:
			*to = strings.Split(text, ",")
		}
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil || !p.inRange(float64(n)) {
			return errors.New(p.Allowed())
		}
		*to = n
	case *float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !p.inRange(x) {
			return errors.New(p.Allowed())
		}
		*to = x
	}
	return err
}

// Texts returns the texts from which Set makes the value.
func (p *Param) Texts() []string {
	if list, ok := p.Target.(*[]string); ok && p.Repeated {
		return *list
	}
	return []string{p.String()}
}

// String returns the value, for people.
func (p *Param) String() string {
	if p.Target == nil {
		return "" // pflag asks a Param without a value
	}
	if list, ok := p.Target.(*[]string); ok {
		return strings.Join(*list, ",")
	}
	return fmt.Sprint(reflect.ValueOf(p.Target).Elem())
}

// Type returns the name of the type, for pflag.
func (p *Param) Type() string {
	switch p.Target.(type) {
	case *bool:
		return "bool"
	case *int:
		return "int"
	case *uint64:
		return "uint64"
	case *float64:
		return "float"
	}
	return "string"
}

// inRange reports whether a number is within the bounds; NaN is not.
func (p *Param) inRange(x float64) bool {
	return x >= p.Min && x <= p.Max && !(p.ExcludeMin && x == p.Min)
}

// Allowed returns what the value can be, for people; "" where any value of its type can be.
func (p *Param) Allowed() string {
	low, top := strconv.FormatFloat(p.Min, 'f', -1, 64), strconv.FormatFloat(p.Max, 'f', -1, 64)
	switch {
	case p.Choices != nil:
		return strings.Join(p.Choices, ", ")
	case p.Max == 0:
		return ""
	case p.ExcludeMin:
		return fmt.Sprintf("a number above %s, at most %s", low, top)
	}
	return low + " to " + top
}

// CheckRange returns an error unless a number is from low to high, which depend on other settings.
func CheckRange(name string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s cannot be \"%d\": try %d to %d", name, n, low, high)
	}
	return nil
}

// ApplyDefaults sets those that were not given to the values of others, which are of the same training.
func ApplyDefaults(params, others []Param, given func(name string) bool) {
	for i, p := range params {
		if !given(p.Name) {
			reflect.ValueOf(p.Target).Elem().Set(reflect.ValueOf(others[i].Target).Elem())
		}
	}
}

// Defect is a fault of the thesis's code that a training or a bot can keep.
type Defect struct{ Name, Help string }

// AllDefects is the list that stands for all.
const AllDefects = "all"

// SelectDefects returns the defects that are given, in the order of the known ones: all for AllDefects.
func SelectDefects(given []string, known []Defect) (names []string, err error) {
	var words []string
	for _, d := range known {
		words = append(words, d.Name)
	}
	if len(given) == 1 && given[0] == AllDefects {
		return words, nil
	}
	for _, name := range given {
		if !slices.Contains(words, name) {
			return nil, fmt.Errorf("as-published: defect %q does not exist: try %s, or %s", name, strings.Join(words, ", "), AllDefects)
		}
	}
	for _, name := range words {
		if slices.Contains(given, name) {
			names = append(names, name)
		}
	}
	return names, nil
}
