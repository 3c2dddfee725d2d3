package rules

import (
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
)

// SplitClaim splits a claim into the name of a game and the option values in it. A claim is a text by which a bot
// says what it can play, such as "brisca players=2". An empty claim gives "" and nil.
func SplitClaim(claim string) (game string, options []Setting) {
	words := strings.Fields(claim)
	if len(words) == 0 {
		return "", nil
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		options = append(options, Setting{name, value})
	}
	return words[0], options
}

// ClaimsGame reports whether a bot can play a game with at least some values of its options. claims has the bot's
// claims (see SplitClaim). A bot without claims can play every game.
func ClaimsGame(claims []string, game string) bool {
	return len(claims) == 0 || slices.ContainsFunc(claims, func(claim string) bool {
		name, _ := SplitClaim(claim)
		return name == game
	})
}

// ClaimsVariant reports whether a bot can play a game with the given options. claims has the bot's claims (see
// SplitClaim). options has the value of every option of the game, by name. A bot without claims can play every game.
func ClaimsVariant(claims []string, game string, options map[string]string) bool {
	return len(claims) == 0 || slices.ContainsFunc(claims, func(claim string) bool {
		name, required := SplitClaim(claim)
		return name == game && !slices.ContainsFunc(required, func(o Setting) bool { return options[o.Name] != o.Value })
	})
}

// CanonicalClaim returns the text by which a bot says that it can play g with the given options, such as "brisca
// players=2". The options are in the order of g.Options. It returns an error if an option or a value does not exist,
// or if an option has two different values.
func (g *Game) CanonicalClaim(options []Setting) (string, error) {
	given := map[string]string{}
	for _, o := range options {
		if old, twice := given[o.Name]; twice && old != o.Value {
			return "", phrase.Errorf("option %s is set to %q and to %q: choose one", o.Name, old, o.Value)
		}
		given[o.Name] = o.Value
	}
	words := []string{g.Name}
	var names []string
	for _, o := range g.Options {
		names = append(names, o.Name)
		if value, ok := given[o.Name]; ok {
			value, err := o.Resolve(value)
			if err != nil {
				return "", err
			}
			words = append(words, o.Name+"="+value)
		}
	}
	for _, o := range options {
		if !slices.Contains(names, o.Name) {
			return "", phrase.Errorf("%s has no option %q: try %s", g.Name, o.Name, strings.Join(names, ", "))
		}
	}
	return strings.Join(words, " "), nil
}
