package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Option is one choice that a game leaves open: one of Values, or a number from
// Min to Max.
type Option struct {
	Name     string
	Values   []string // the words allowed, the default first; nil for a number
	Min, Max int
	Default  int // of a number
	Help     string
}

// Allowed says in words which values there are.
func (o Option) Allowed() string {
	if o.Values == nil {
		return fmt.Sprintf("%d to %d", o.Min, o.Max)
	}
	return strings.Join(o.Values, " or ")
}

// DefaultText is the value of an option that is not set.
func (o Option) DefaultText() string {
	if o.Values == nil {
		return strconv.Itoa(o.Default)
	}
	return o.Values[0]
}

// Settle checks a value and gives its canonical text ("04" is 4).
func (o Option) Settle(value string) (string, error) {
	if o.Values != nil {
		if slices.Contains(o.Values, value) {
			return value, nil
		}
	} else if n, err := strconv.Atoi(value); err == nil && n >= o.Min && n <= o.Max {
		return strconv.Itoa(n), nil
	}
	return "", fmt.Errorf("option %s cannot be %q: try %s", o.Name, value, o.Allowed())
}

// Setting is an option's value.
type Setting struct{ Name, Value string }

// Settings is every option of a game with its value, in the game's order.
type Settings []Setting

// Get is the value of an option, "" where there is none.
func (s Settings) Get(name string) string {
	for _, o := range s {
		if o.Name == name {
			return o.Value
		}
	}
	return ""
}

// Is tells whether an option is "yes".
func (s Settings) Is(name string) bool { return s.Get(name) == "yes" }

// Int is the value of a number.
func (s Settings) Int(name string) int {
	n, _ := strconv.Atoi(s.Get(name)) // Settle has checked it
	return n
}

// String is "name=value name=value".
func (s Settings) String() string {
	words := make([]string, len(s))
	for i, o := range s {
		words[i] = o.Name + "=" + o.Value
	}
	return strings.Join(words, " ")
}

// Settle makes a variant of a game from the options given by name; those not
// given have their defaults. Unknown names and values are refused.
func Settle(g Game, given map[string]string) (Variant, error) {
	options := g.Options()
	var names []string
	settings := make(Settings, 0, len(options))
	for _, o := range options {
		names = append(names, o.Name)
		value, ok := given[o.Name]
		if !ok {
			settings = append(settings, Setting{o.Name, o.DefaultText()})
			continue
		}
		value, err := o.Settle(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.Name(), err)
		}
		settings = append(settings, Setting{o.Name, value})
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s: there is no option %q: try %s", g.Name(), name, strings.Join(names, ", "))
		}
	}
	return g.Variant(settings)
}
