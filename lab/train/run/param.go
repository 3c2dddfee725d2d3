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

// Param is one setting of a training. It is a flag of the training's command, for which it implements
// pflag.Value, and a key of models in the files of experiments.
type Param struct {
	Name, Help     string
	Target         any      // pointer to the value: a bool, int, uint64, float64, string or []string
	Min, Max       float64  // bounds of an int or a float64
	ExcludeMin     bool     // the number must be greater than Min
	Choices        []string // values that a string may have; if nil, any string is allowed
	Repeated       bool     // a []string is set by repeating the flag, one string each time; otherwise by commas
	NoValueDefault string   // value of the flag if it is given without one
	Scaled         bool     // the setting is the amount of training, which experiments multiply by a scale
	FlagOnly       bool     // the setting is a flag, but no key of an experiment
}

// DefaultMode is the mode (a game and its number of seats) that a training has if none is given.
const DefaultMode = "brisca2"

// CommonParams returns the two settings that every training has: the mode, which is a game and its number of
// players, and the seed. Their values are stored in *mode and *seed.
func CommonParams(mode *string, seed *uint64) []Param {
	return []Param{
		ChoiceParam("mode", mode, cards.ModeNames(), "the game and its seats"),
		{Name: "seed", Target: seed, Help: "the seed of everything random", FlagOnly: true},
	}
}

// ChoiceParam returns a setting whose value must be one of words. The value is stored in *to.
func ChoiceParam(name string, to *string, words []string, help string) Param {
	return Param{Name: name, Target: to, Choices: words, Help: help + ": one of " + strings.Join(words, ", ")}
}

// RulesParam returns the setting for the optional rules of the games. Parsing it stores the value in *to. how is a
// part of the help text: how all combinations of rules are played, such as "in turn".
func RulesParam(to *string, how string) Param {
	return Param{Name: "rules", Target: to, Help: "the optional rules: all (the combinations " + how + "), none, or one combination as `DIGITS` 0 or 1 for " +
		"exchange, last10, blackhand and, with two players, hunt3"}
}

// DefectsParam returns the setting --as-published, which selects known defects of the program of R. Arjonilla's
// thesis (UOC, 2024) to reproduce. Parsing it stores the names of the selected defects in *to.
func DefectsParam(to *[]string, known []Defect) Param {
	var names []string
	for _, d := range known {
		names = append(names, d.Name+" ("+d.Help+")")
	}
	return Param{Name: "as-published", Target: to, NoValueDefault: AllDefects, FlagOnly: true,
		Help: "keep these defects of the study, a `LIST` joined by commas, or all of them: " + strings.Join(names, ", ")}
}

// Set parses text and stores the value in Target. If a string or a number is not allowed, the text of the error is
// that of AllowedText.
func (p *Param) Set(text string) (err error) {
	switch to := p.Target.(type) {
	case *bool:
		*to, err = strconv.ParseBool(text)
	case *uint64:
		*to, err = strconv.ParseUint(text, 0, 64)
	case *string:
		if p.Choices != nil && !slices.Contains(p.Choices, text) {
			return errors.New(p.AllowedText())
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
			return errors.New(p.AllowedText())
		}
		*to = n
	case *float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !p.inRange(x) {
			return errors.New(p.AllowedText())
		}
		*to = x
	}
	return err
}

// Texts returns the texts that set the current value again if Set is called with each of them in turn. It is one
// text unless the flag can be repeated.
func (p *Param) Texts() []string {
	if list, ok := p.Target.(*[]string); ok && p.Repeated {
		return *list
	}
	return []string{p.String()}
}

// String returns the value as text. It implements pflag.Value.
func (p *Param) String() string {
	if p.Target == nil {
		return "" // pflag calls String on a zero Param
	}
	if list, ok := p.Target.(*[]string); ok {
		return strings.Join(*list, ",")
	}
	return fmt.Sprint(reflect.ValueOf(p.Target).Elem())
}

// Type returns the name of the value's type, which pflag shows.
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

// inRange reports whether x is within the bounds of the setting. It returns false for NaN.
func (p *Param) inRange(x float64) bool {
	return x >= p.Min && x <= p.Max && !(p.ExcludeMin && x == p.Min)
}

// AllowedText describes the allowed values, for example "1 to 10". It returns "" if any value of the type is allowed.
func (p *Param) AllowedText() string {
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

// CheckRange returns an error unless n is in [low, high]. name is the setting whose value is n. The function is for
// bounds that depend on other settings.
func CheckRange(name string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s cannot be \"%d\": try %d to %d", name, n, low, high)
	}
	return nil
}

// ApplyDefaults sets each of params to the value of the setting at the same index in others. It does not change a
// setting if given returns true for its name. Both lists must have the settings of the same method.
func ApplyDefaults(params, others []Param, given func(name string) bool) {
	for i, p := range params {
		if !given(p.Name) {
			reflect.ValueOf(p.Target).Elem().Set(reflect.ValueOf(others[i].Target).Elem())
		}
	}
}

// Defect is a fault in the program of the study (R. Arjonilla's thesis) that a training or a bot can reproduce.
type Defect struct{ Name, Help string }

// AllDefects, as the only name in a list of defects, selects all known defects.
const AllDefects = "all"

// SelectDefects checks the names of defects in given, and returns them in the order of known. If the only name is
// AllDefects, it returns the names of all known defects. An unknown name is an error.
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
