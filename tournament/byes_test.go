//go:build !race

package tournament

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/stats"
)

// The strongest bot wins a Swiss tournament more often if a bye counts as the mean of the bot's matches than if it
// counts as one point. Both rules play the same 1,000 fields of each size from 5 to 16 bots, with strengths that are
// normally distributed (deviation 150 Elo) and 40 deals a match. With an even number of bots nobody has a bye.
func TestByesInSwiss(t *testing.T) {
	const tournaments = 1000
	onePoint := func(float64, int) float64 { return 1 }
	var b strings.Builder
	b.WriteString("# command: go test ./tournament -run ByesInSwiss -update\n" +
		"# sample: tournaments is the number of simulated tournaments of each size, with the seeds from 0; 95 % intervals\n")
	b.WriteString("bots,tournaments,strongest wins if a bye is 1 point,strongest wins if a bye is the mean,difference,low,high\n")
	row := func(bots string, one, mean []float64) {
		difference := make([]float64, len(one))
		for i := range one {
			difference[i] = mean[i] - one[i]
		}
		d := stats.Mean(difference)
		fmt.Fprintf(&b, "%s,%d,%.4f,%.4f,%.4f,%.4f,%.4f\n", bots, len(one), stats.Mean(one).Value, stats.Mean(mean).Value, d.Value, d.Low, d.High)
		if bots == "odd" && d.Low <= 0 {
			t.Errorf("the strongest bot wins %+.4f (%.4f to %.4f) more often", d.Value, d.Low, d.High)
		}
	}
	var oddOne, oddMean, allOne, allMean []float64
	for bots := 5; bots <= 16; bots++ {
		var one, mean []float64
		for seed := range uint64(tournaments) {
			one = append(one, swissWin(bots, seed, onePoint))
			mean = append(mean, swissWin(bots, seed, byePoints))
		}
		row(fmt.Sprint(bots), one, mean)
		allOne, allMean = append(allOne, one...), append(allMean, mean...)
		if bots%2 == 1 {
			oddOne, oddMean = append(oddOne, one...), append(oddMean, mean...)
		}
	}
	row("odd", oddOne, oddMean)
	row("all", allOne, allMean)
	kit.Golden(t, "../../lab/results/swiss-byes.csv", b.String())
}

// swissWin plays a simulated Swiss tournament and returns 1 if the strongest bot wins it, otherwise 0. bye returns what
// a bye is worth to a bot, from the sum of its match points and the number of its matches.
func swissWin(bots int, seed uint64, bye func(points float64, matches int) float64) float64 {
	r := rand.New(rand.NewPCG(seed, uint64(bots)))
	elo, strongest := make([]float64, bots), 0
	points, matches, byes, met := make([]float64, bots), make([]int, bots), make([]int, bots), make([][]int, bots)
	for i := range elo {
		met[i] = make([]int, bots)
		if elo[i] = 150 * r.NormFloat64(); elo[i] > elo[strongest] {
			strongest = i
		}
	}
	total := func() []float64 {
		all := make([]float64, bots)
		for i := range all {
			all[i] = roundPoints(points[i] + float64(byes[i])*bye(points[i], matches[i]))
		}
		return all
	}
	for range bits.Len(uint(bots-1)) + 1 {
		for _, table := range swissTables(total(), byes, met, 2) {
			a := table[0]
			if len(table) == 1 {
				byes[a]++
				continue
			}
			b := table[1]
			share, expected := 0.0, stats.Score(elo[a]-elo[b])
			for range 80 { // games, two of each deal
				if r.Float64() < expected {
					share += 1. / 80
				}
			}
			points[a], points[b] = roundPoints(points[a]+share), roundPoints(points[b]+1-share)
			matches[a], matches[b] = matches[a]+1, matches[b]+1
			met[a][b], met[b][a] = met[a][b]+1, met[b][a]+1
		}
	}
	final := total()
	if slices.Index(final, slices.Max(final)) == strongest {
		return 1
	}
	return 0
}
