package commands

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// readOpenings returns the openings of a file, a replay or lines of text, and the options of the game that all of
// them have. ply is the number of moves after which each of them ends, -1 for all of its moves.
func readOpenings(path, game string, set []string, ply int) (openings []referee.Opening, options []string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("openings: %w", err)
	}
	var all []referee.Notated
	var places []string
	if referee.IsReplay(data) {
		n, err := referee.NotatedReplay(data)
		if err != nil {
			return nil, nil, fmt.Errorf("openings: %s: %w", path, err)
		}
		all, places = append(all, n), append(places, path)
	} else {
		for i, line := range strings.Split(string(data), "\n") {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			place := fmt.Sprintf("%s, line %d", path, i+1)
			n, err := referee.ParseNotation(line)
			if err != nil {
				return nil, nil, fmt.Errorf("openings: %s: %w", place, err)
			}
			all, places = append(all, n), append(places, place)
		}
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("openings: %s has none: write a line for each, as in teeko start=drop moves=12,7", path)
	}
	var first *rules.Variant
	for i, n := range all {
		if err := n.Cut(ply); err != nil {
			return nil, nil, fmt.Errorf("openings: %s: %w", places[i], err)
		}
		v, err := variantOfLine(n, game, set)
		switch {
		case err != nil:
		case first == nil:
			first = v
		case !slices.Equal(v.Settings, first.Settings):
			err = fmt.Errorf("its options are %s and those of %s are %s: use one file for each", v.Settings, places[0], first.Settings)
		}
		if err == nil {
			err = n.Check(v)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("openings: %s: %w", places[i], err)
		}
		openings = append(openings, n.Opening)
	}
	for _, s := range first.Settings {
		options = append(options, s.Name+"="+s.Value)
	}
	return openings, options, nil
}

// variantOfLine returns the variant of a line, of whose options the user may have set some.
func variantOfLine(n referee.Notated, game string, set []string) (*rules.Variant, error) {
	if n.Game != game {
		return nil, fmt.Errorf("it is a game of %s, not of %s", n.Game, game)
	}
	words := slices.Clone(set)
	for _, name := range slices.Sorted(maps.Keys(n.Options)) {
		words = append(words, name+"="+n.Options[name])
	}
	return resolveGame(game, words, 0)
}
