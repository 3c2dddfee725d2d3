package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
)

// Option is an option of a game. Its value is one of the words in Values or, if Values is nil, a number from
// Min to Max.
type Option struct {
	Name     string
	Values   []string // allowed words, the default first; nil if the value is a number
	Min, Max int
	Default  int // default of a number
	// TableValue is the default in games that people play on the site; "" if it is the same as for bots.
	TableValue string
	Help       string
}

// AllowedText describes the allowed values for people, such as "2 to 4" or "yes or no".
func (o Option) AllowedText() string {
	if o.Values == nil {
		return fmt.Sprintf("%d to %d", o.Min, o.Max)
	}
	return strings.Join(o.Values, " or ")
}

// DefaultText returns the default value as text.
func (o Option) DefaultText() string {
	if o.Values == nil {
		return strconv.Itoa(o.Default)
	}
	return o.Values[0]
}

// TableText returns the default value in games that people play on the site.
func (o Option) TableText() string { return cmp.Or(o.TableValue, o.DefaultText()) }

// Resolve returns the canonical form of value, such as "4" for "04", or an error if the option does not allow the
// value.
func (o Option) Resolve(value string) (string, error) {
	if o.Values != nil {
		if slices.Contains(o.Values, value) {
			return value, nil
		}
	} else if n, err := strconv.Atoi(value); err == nil && n >= o.Min && n <= o.Max {
		return strconv.Itoa(n), nil
	}
	return "", phrase.Errorf("option %s cannot be %q: try %s", o.Name, value, o.AllowedText())
}

// Setting has the name of an option and its value.
type Setting struct{ Name, Value string }

// Settings lists every option of a game with its value, in the order of Game.Options.
type Settings []Setting

// Get returns the value of an option, or "" if the game has no such option.
func (s Settings) Get(name string) string {
	for _, o := range s {
		if o.Name == name {
			return o.Value
		}
	}
	return ""
}

// Is reports whether the option with the given name has the value "yes". It returns false if the game has no such
// option.
func (s Settings) Is(name string) bool { return s.Get(name) == "yes" }

// Int returns the value of the option with the given name as a number. It returns 0 if the value is not a number or
// the game has no such option.
func (s Settings) Int(name string) int {
	n, _ := strconv.Atoi(s.Get(name)) // checked by Resolve
	return n
}

// Map returns the settings as a map from the name of each option to its value.
func (s Settings) Map() map[string]string {
	m := make(map[string]string, len(s))
	for _, o := range s {
		m[o.Name] = o.Value
	}
	return m
}

// String returns the settings as "name=value name=value".
func (s Settings) String() string {
	words := make([]string, len(s))
	for i, o := range s {
		words[i] = o.Name + "=" + o.Value
	}
	return strings.Join(words, " ")
}

// Resolve returns the variant of g with the option values in given. An option that is not in given has its default.
// Resolve returns an error for an unknown option, a value that is not allowed, or a combination that is not allowed.
func (g *Game) Resolve(given map[string]string) (*Variant, error) {
	var names []string
	settings := make(Settings, 0, len(g.Options))
	for _, o := range g.Options {
		names = append(names, o.Name)
		value, ok := given[o.Name]
		if !ok {
			settings = append(settings, Setting{o.Name, o.DefaultText()})
			continue
		}
		value, err := o.Resolve(value)
		if err != nil {
			return nil, err
		}
		settings = append(settings, Setting{o.Name, value})
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return nil, phrase.Errorf("%s has no option %q: try %s", g.Name, name, strings.Join(names, ", "))
		}
	}
	return g.Variant(g, settings)
}
