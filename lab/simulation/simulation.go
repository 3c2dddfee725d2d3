// Package simulation plays ladders of simulated bots with known strengths. It measures after how many matches
// a method of pairing and rating finds these strengths. lab/experiments.md shows the results; `timba-lab
// bench ladder` repeats the simulation. Begin with Measure.
package simulation

import (
	"context"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
)

// The mean and the standard deviation, in Elo, of the normally distributed strengths of bots. The strength of
// the anchor is its fixed Elo instead.
const (
	Mean      = 1300.0
	Deviation = 300.0
)

// Config is the configuration of a simulation. It determines the results completely.
type Config struct {
	Bots    int
	Deals   int // deals of a match, each in two rotations
	Matches int // mean number of matches of each bot
	Runs    int // number of ladders to simulate for each method, each with other bots
	Seed    uint64
}

// ladder returns the simulated ladder, whose matches are those of Brisca for two players.
func (c Config) ladder() ladder.Ladder { return ladder.Ladder{Game: "brisca", Deals: c.Deals, Bots: 2} }

// checkpoints returns the numbers of matches of each bot after which the ratings are compared.
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

// forEachRun calls do for each run of the simulation, in parallel, and returns the first error. Each run has two
// sources of random numbers: truth for the strengths of the bots, and play for the games. Both depend only on the
// seed and the number of the run, so that the bots have the same strengths with every method.
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

// drawStrengths returns random true strengths of bots, in Elo. The first bot is the anchor, which has a fixed
// strength.
func drawStrengths(r *rand.Rand, bots int) []float64 {
	truth := make([]float64, bots)
	for i := range truth {
		truth[i] = Mean + Deviation*r.NormFloat64()
	}
	truth[0] = rating.Current.Anchor
	return truth
}
