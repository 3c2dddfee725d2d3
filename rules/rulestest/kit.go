// Package rulestest tests the rules of games. Run checks everything that package rules promises of a game,
// and FuzzNaive compares a game with a second, naive implementation of its rules.
package rulestest

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// Options adapts the checks of Run to a game.
type Options struct {
	// CheckTotal returns an error if the points of the finished game s have a sum that is impossible. If CheckTotal is
	// nil, the sum is not checked.
	CheckTotal func(v *rules.Variant, s rules.State) error
	// CheckState returns an error if s violates an invariant of the game, such as that every card is in one
	// place. It is also called for positions whose hidden cards were dealt again. CheckState may be nil.
	CheckState func(v *rules.Variant, s rules.State) error
	// Variants has the values of options, by name, for each variant to test. If it is nil, Run tests
	// combinations of all words and of a few values of each number, or a sample of them if there are many.
	Variants []map[string]string
	// Games is the number of random games to play over all variants, at least one for each. 0 means 150.
	Games int
}

// maxVariants is the maximum number of combinations of options that Run tests if Options.Variants is nil.
const maxVariants = 64

// Run checks everything that package rules requires of a game, and fails the test at the first violation. It
// measures allocations, so the test must not run in parallel with others.
func Run(t *testing.T, g *rules.Game, o Options) {
	t.Helper()
	kit.Must(t, check(g, o))
}

// check returns an error for the first violation of the requirements of package rules that it finds in g.
func check(g *rules.Game, o Options) error {
	if err := checkOptions(g); err != nil {
		return err
	}
	variants, err := variantsOf(g, o.Variants)
	if err != nil {
		return err
	}
	for i, v := range variants {
		if err := checkVariant(v, o, games(o, len(variants)), uint64(i)); err != nil {
			return fmt.Errorf("%s: %w", v.Settings, err)
		}
	}
	return nil
}

// games returns how many random games to play for each variant if there are n variants.
func games(o Options, n int) int {
	return max(1, cmp.Or(o.Games, 150)/n)
}

// checkVariant makes all checks of one variant, for which it plays the given number of random games. number is the
// index of the variant; the seeds of the games are derived from it.
func checkVariant(v *rules.Variant, o Options, games int, number uint64) error {
	if err := checkSettings(v); err != nil {
		return err
	}
	if err := checkShape(v); err != nil {
		return err // the following checks copy states by value
	}
	if err := checkDeal(v); err != nil {
		return err
	}
	if v.Settings.Get(rules.OpeningOption.Name) != "" {
		if err := checkOpening(v); err != nil {
			return err
		}
	}
	if err := checkDisplay(v); err != nil {
		return err
	}
	hidden := 0
	for i := range games {
		w := newWalk(v, o, number<<32|uint64(i))
		w.redealing = i%3 == 2
		w.scan = i == 0 && number == 0
		if err := w.run(); err != nil {
			return fmt.Errorf("game %d, ply %d: %w", i, w.s.Ply(), err)
		}
		hidden += w.hidden
	}
	if _, redeals := deal(v, 0).(rules.Redealer); redeals && hidden == 0 {
		return fmt.Errorf("redeal: no redeal changed what the other seats see in %d games", games)
	}
	return checkAllocs(v, number)
}

func seedOf(n uint64) rules.Seed { return rules.Seed{}.Derive(fmt.Sprint("rulestest ", n)) }

// deal returns the first position of a game with the seed n. It uses the SHA-256 stream for even n and the fast
// stream for odd n, so that both are tested.
func deal(v *rules.Variant, n uint64) rules.State {
	stream := rules.NewStream(seedOf(n))
	if n%2 == 1 {
		stream = rules.FastStream(rules.NewRand(n))
	}
	return v.Deal(&stream)
}
