package rulestest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
)

var word = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// checkOptions checks the name, the rules text and the options of a game, and that the game refuses options
// that it does not have.
func checkOptions(g *rules.Game) error {
	if !word.MatchString(g.Name) {
		return fmt.Errorf("name: %q is not a lower-case word", g.Name)
	}
	if strings.TrimSpace(g.Text("en")) == "" {
		return errors.New("rules: the text is empty")
	}
	seen := map[string]bool{}
	for _, o := range g.Options {
		if seen[o.Name] {
			return fmt.Errorf("options: %s is listed twice", o.Name)
		}
		seen[o.Name] = true
		if err := checkOption(o); err != nil {
			return fmt.Errorf("options: %s: %w", o.Name, err)
		}
		if err := checkRefusals(g, o); err != nil {
			return fmt.Errorf("options: %s: %w", o.Name, err)
		}
	}
	if _, err := g.Resolve(map[string]string{"nonesuch": "1"}); err == nil || !strings.Contains(err.Error(), `"nonesuch"`) {
		return fmt.Errorf("options: an unknown option gives the error %v", err)
	}
	return checkDefaults(g)
}

func checkOption(o rules.Option) error {
	switch {
	case !word.MatchString(o.Name):
		return errors.New("the name is not a lower-case word")
	case strings.TrimSpace(o.Help) == "":
		return errors.New("the help is empty")
	case o.Values == nil && (o.Min >= o.Max || o.Default < o.Min || o.Default > o.Max):
		return fmt.Errorf("%d is not in a range %d to %d", o.Default, o.Min, o.Max)
	case o.Values != nil && (len(o.Values) < 2 || o.Min != 0 || o.Max != 0 || o.Default != 0):
		return errors.New("words need at least two values and no numbers")
	}
	for i, value := range o.Values {
		if !regexp.MustCompile(`^[a-z0-9]+$`).MatchString(value) || slices.Contains(o.Values[:i], value) {
			return fmt.Errorf("the value %q is not a lower-case word or is listed twice", value)
		}
	}
	return nil
}

// checkRefusals returns an error unless the game refuses values that option o does not allow.
func checkRefusals(g *rules.Game, o rules.Option) error {
	bad := []string{"", "nonesuch", "1e3", " " + o.DefaultText()}
	if o.Values == nil {
		bad = append(bad, strconv.Itoa(o.Min-1), strconv.Itoa(o.Max+1), "99999999999999999999")
	}
	for _, value := range bad {
		_, err := g.Resolve(map[string]string{o.Name: value})
		if err == nil || !strings.Contains(err.Error(), o.AllowedText()) || !strings.Contains(err.Error(), strconv.Quote(value)) {
			return fmt.Errorf("the value %q gives the error %v", value, err)
		}
	}
	return nil
}

func checkDefaults(g *rules.Game) error {
	v, err := g.Resolve(nil)
	if err != nil {
		return fmt.Errorf("options: the defaults are refused: %w", err)
	}
	for _, o := range g.Options {
		if got := v.Settings.Get(o.Name); got != o.DefaultText() {
			return fmt.Errorf("options: %s defaults to %q, the table says %q", o.Name, got, o.DefaultText())
		}
	}
	return nil
}

// variantsOf returns a variant of g for each element of given, a map from the names of options to their values. If
// given is nil, it returns a sample of the result of Variants.
func variantsOf(g *rules.Game, given []map[string]string) (variants []*rules.Variant, err error) {
	for _, options := range given {
		v, err := g.Resolve(options)
		if err != nil {
			return nil, err
		}
		variants = append(variants, v)
	}
	if given != nil {
		return variants, nil
	}
	if variants, err = Variants(g); err != nil {
		return nil, err
	}
	r := rules.NewRand(1)
	for len(variants) > maxVariants { // the defaults are first and always remain
		i := 1 + r.Below(len(variants)-1)
		variants = slices.Delete(variants, i, i+1)
	}
	return variants, nil
}

// Variants returns a variant for every combination of option values, with the defaults first. The values are every
// allowed word, and a few values of each number. Variants leaves out combinations that the game refuses. It returns
// an error if a refusal does not say which option is wrong.
func Variants(g *rules.Game) (variants []*rules.Variant, err error) {
	for _, options := range combinations(g.Options) {
		v, err := g.Resolve(options)
		if err != nil {
			if err := checkCombinationError(options, err); err != nil {
				return nil, err
			}
			continue
		}
		for name, value := range options {
			if got := v.Settings.Get(name); got != value {
				return nil, fmt.Errorf("settings: %s=%s becomes %q", name, value, got)
			}
		}
		variants = append(variants, v)
	}
	return variants, nil
}

// combinations returns combinations of option values, each as a map from the option's name to its value. It
// uses every word and a few values of each number. The first combination has every default.
func combinations(options []rules.Option) []map[string]string {
	all := []map[string]string{{}}
	for _, o := range options {
		values := o.Values
		if values == nil {
			for _, n := range []int{o.Default, o.Min, o.Min + 1, (o.Min + o.Max) / 2, o.Max} {
				if text := strconv.Itoa(n); !slices.Contains(values, text) {
					values = append(values, text)
				}
			}
		}
		var next []map[string]string
		for _, value := range values {
			for _, m := range all {
				with := map[string]string{o.Name: value}
				for k, v := range m {
					with[k] = v
				}
				next = append(next, with)
			}
		}
		all = next
	}
	return all
}

// checkCombinationError returns an error unless the text of err contains the name and the value of one of the
// options. err is the error with which a game has refused a combination of options.
func checkCombinationError(options map[string]string, err error) error {
	text := err.Error()
	for name, value := range options {
		if strings.Contains(text, name) && strings.Contains(text, value) {
			return nil
		}
	}
	return fmt.Errorf("options: %v are refused with %q: name an option and its value", options, text)
}

// checkSettings returns an error unless v.Settings resolve to the same variant, and the numbers of seats and
// sides are valid.
func checkSettings(v *rules.Variant) error {
	given := map[string]string{}
	options := v.Game.Options
	for i, s := range v.Settings {
		if i >= len(options) || options[i].Name != s.Name {
			return fmt.Errorf("settings: %s are not in the order of the options", v.Settings)
		}
		given[s.Name] = s.Value
	}
	again, err := v.Game.Resolve(given)
	if err != nil || !slices.Equal(again.Settings, v.Settings) || len(given) != len(options) {
		return fmt.Errorf("settings: %s do not resolve to themselves: %v", v.Settings, err)
	}
	n := v.Players
	if n < 2 || n > rules.MaxSeats {
		return fmt.Errorf("settings: %d players", n)
	}
	if text, ok := given["players"]; ok && text != strconv.Itoa(n) {
		return fmt.Errorf("settings: players=%s has %d players", text, n)
	}
	switch {
	case v.Sides < 2:
		return errors.New("settings: there is only one side")
	case v.Sides > n:
		return fmt.Errorf("settings: %d sides of %d players", v.Sides, n)
	}
	return nil
}
