package commands

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/tournament"
)

// startFlags are the flags that choose the deals of a match and the openings (given first moves).
type startFlags struct {
	deals          int
	deal, rotation int
	seed           string
	openings       string
	order          string
	ply            int
}

func (f *startFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	cli.NumberFlag(cmd, &f.deals, "deals", 10, 1, 1_000_000_000, "deals of a match, each played in every rotation")
	cli.NumberFlag(cmd, &f.deal, "deal", -1, 0, 999_999_999, "play only this deal of the match with the same --seed")
	cli.NumberFlag(cmd, &f.rotation, "rotation", -1, 0, rules.MaxSeats-1, "with --deal: play only this rotation of it")
	flags.StringVar(&f.seed, "seed", "", "seed: 64 hexadecimal digits or a number (default: a new one)")
	flags.StringVar(&f.openings, "openings", "", "begin with the openings of this `FILE`, lines of text or a replay")
	flags.StringVar(&f.order, "openings-order", "sequential", "order of the openings: `sequential|random`; --seed determines a random one")
	cli.NumberFlag(cmd, &f.ply, "ply", -1, 0, rules.MaxPlies, "with --openings: begin after this number of their moves (default: all)")
	cmd.MarkFlagsMutuallyExclusive("deal", "deals")
}

// plan sets the seed, the deals and the openings (given first moves) in p. The argument dealsGiven says whether the
// user has set --deals; if not, each opening is played in one deal. set has options of the game in the form
// name=value. plan returns these and the options that the openings need.
func (f *startFlags) plan(cmd *cobra.Command, p *tournament.Config, set []string, dealsGiven bool) (options []string, err error) {
	switch {
	case f.rotation >= 0 && f.deal < 0:
		return nil, errors.New("match: --rotation goes with --deal")
	case f.ply >= 0 && f.openings == "":
		return nil, errors.New("match: --ply goes with --openings")
	case f.order != "sequential" && f.order != "random":
		return nil, fmt.Errorf("match: --openings-order cannot be %q: try sequential or random", f.order)
	case f.order == "random" && f.openings == "":
		return nil, errors.New("match: --openings-order goes with --openings")
	case f.deal >= 0 && f.seed == "":
		return nil, errors.New("match: --deal needs the --seed of the match that had the deal: the match printed it, and its replays have it as match.seed")
	}
	seed, err := parseSeed(f.seed)
	if err != nil {
		return nil, err
	}
	p.Seed, p.Deals = referee.Hex(seed), f.deals
	if f.deal >= 0 {
		p.FirstDeal, p.Deals = f.deal, 1
		if f.rotation >= 0 {
			p.Rotation = &f.rotation
		}
	}
	if f.openings == "" {
		return set, nil
	}
	p.Openings, options, err = readOpenings(cmd, f.openings, p.Game, set, f.ply)
	if f.order == "random" {
		p.ShuffleOpenings()
	}
	if !dealsGiven && f.deal < 0 {
		p.Deals = len(p.Openings)
	}
	return options, err
}

// parseSeed parses a seed. If text is "", it returns a new random seed.
func parseSeed(text string) (rules.Seed, error) {
	if text == "" {
		return referee.NewSeed(), nil
	}
	return referee.ParseSeed(text)
}

// readOpenings returns the openings (given first moves) in the file at path. The file is a replay or has an opening
// in each line. Each opening is cut after ply moves; -1 means that it is not cut. All openings must be of the given
// game and have the same options. set has further options of the game, in the form name=value. The result options has
// all these options.
func readOpenings(cmd *cobra.Command, path, game string, set []string, ply int) (openings []referee.DealOpening, options []string, err error) {
	data, err := cli.ReadInput(cmd, path, cli.MaxInput)
	if err != nil {
		return nil, nil, fmt.Errorf("openings: %w", err)
	}
	var all []referee.NotatedGame
	var places []string
	if referee.IsReplay(data) {
		n, err := referee.ParseReplayNotation(data)
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
		openings = append(openings, n.DealOpening)
	}
	for _, s := range first.Settings {
		options = append(options, s.Name+"="+s.Value)
	}
	return openings, options, nil
}

// variantOfLine returns the variant (a game with its options) of the opening n, which is a list of first moves. It
// has the options of the opening and those in set, words of the form name=value. It returns an error if the opening
// is not of the named game, or if the options contradict each other.
func variantOfLine(n referee.NotatedGame, game string, set []string) (*rules.Variant, error) {
	if n.Game != game {
		return nil, fmt.Errorf("it is a game of %s, not of %s", n.Game, game)
	}
	words := slices.Clone(set)
	for _, name := range slices.Sorted(maps.Keys(n.Options)) {
		words = append(words, name+"="+n.Options[name])
	}
	return resolveGame(game, words, 0)
}
