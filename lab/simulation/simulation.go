// Package simulation plays ladders of simulated bots whose true strength is
// known, to see how fast a way of pairing and rating finds it. lab/experiments.md
// shows what came out; `timba-lab bench ladder` plays it anew.
package simulation

import (
	"context"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
)

// The bots' true strength is normal. The anchor is one of them, at its own Elo.
const (
	Mean      = 1300.0
	Deviation = 300.0
)

// Config is what to simulate; the same one gives the same figures anywhere.
type Config struct {
	Bots    int
	Deals   int // of a match, each in two rotations
	Matches int // of each bot, on average
	Runs    int // ladders of each method; each has bots of its own
	Seed    uint64
}

// ladder returns that of the matches.
func (c Config) ladder() ladder.Ladder { return ladder.Ladder{Game: "brisca", Deals: c.Deals, Bots: 2} }

// checkpoints returns the matches a bot after which a ladder is looked at.
func (c Config) checkpoints() []int {
	var at []int
	for n := 1; n <= c.Matches; {
		at = append(at, n)
		switch {
		case n < 20:
			n++
		case n < 40:
			n += 2
		default:
			n += 5
		}
	}
	return at
}

// forEachRun does the runs side by side. A run has randomness of its own, so it does
// not matter which processor takes it: one source for the bots' strength, which
// is the same for every method, and one for what they play.
func (c Config) forEachRun(ctx context.Context, do func(run int, truth, play *rand.Rand) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for run := range c.Runs {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			source := func(use uint64) *rand.Rand { return rand.New(rand.NewPCG(c.Seed, uint64(run)<<1|use)) }
			return do(run, source(0), source(1))
		})
	}
	return group.Wait()
}

// drawStrengths returns the true strength of a ladder's bots; bot 0 is the anchor.
func drawStrengths(r *rand.Rand, bots int) []float64 {
	truth := make([]float64, bots)
	for i := range truth {
		truth[i] = Mean + Deviation*r.NormFloat64()
	}
	truth[0] = rating.Current.Anchor
	return truth
}
