// Package rulestest tests games: Run checks what package rules promises of every game, and
// FuzzNaive compares a game with a second implementation of its rules.
package rulestest

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// Options is what the kit cannot know of a game by itself.
type Options struct {
	// CheckTotal checks that the points of a finished game add up. Nil: no check.
	CheckTotal func(v *rules.Variant, s rules.State) error
	// CheckState checks what must hold inside a state at any time, after a redeal
	// too, such as that every card is in one place. Nil: no check.
	CheckState func(v *rules.Variant, s rules.State) error
	// Variants are the options to try. Nil: every combination of the words and
	// a few values of each number, a sample of them when there are many.
	Variants []map[string]string
	// Games is how many random games are walked through, over all variants.
	// Each variant has at least one. 0 is 150.
	Games int
}

// maxVariants bounds the combinations of options that are tried by default.
const maxVariants = 64

// Run checks a game in every way the kit knows, up to the first fault. It measures allocations, so
// the test that calls it must not be parallel.
func Run(t *testing.T, g *rules.Game, o Options) {
	t.Helper()
	kit.Must(t, check(g, o))
}

// check returns the first fault of a game.
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

// games returns the number of games for each of n variants.
func games(o Options, n int) int {
	return max(1, cmp.Or(o.Games, 150)/n)
}

// checkVariant runs every check on one variant; the number tells variants apart.
func checkVariant(v *rules.Variant, o Options, games int, number uint64) error {
	if err := checkSettings(v); err != nil {
		return err
	}
	if err := checkShape(v); err != nil {
		return err // what follows copies states by value
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

// seedOf returns a game seed for a number.
func seedOf(n uint64) rules.Seed { return rules.Seed{}.Derive(fmt.Sprint("rulestest ", n)) }

// deal makes the first position for a number: from the SHA-256 stream, or from
// the quick one when the number is odd, so that both are tried.
func deal(v *rules.Variant, n uint64) rules.State {
	stream := rules.NewStream(seedOf(n))
	if n%2 == 1 {
		stream = rules.FastStream(rules.NewRand(n))
	}
	return v.Deal(&stream)
}
