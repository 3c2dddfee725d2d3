package stats_test

import (
	"fmt"

	"github.com/timba-arena/timba/stats"
)

// tally returns the results of two bots in a multiple of ten deals, with two games each.
func tally(tens int) *stats.Tally {
	t := new(stats.Tally)
	for range tens {
		for _, score := range []float64{1, 1, 1, 0.75, 0.75, 0.5, 0.5, 0.5, 0.25, 0} {
			t.Add(stats.Duel{A: 0, B: 1, Games: 2, Score: score})
		}
	}
	return t
}

// How much stronger the first bot is, with the 95 % interval.
func ExampleTally_Summary() {
	s := tally(3).Summary()
	fmt.Printf("%d games, score %.3f\n", s.Games, s.Score.Value)
	fmt.Printf("Elo %+.0f, from %+.0f to %+.0f\n", s.Elo.Value, s.Elo.Low, s.Elo.High)
	fmt.Printf("likelihood of superiority %.1f %%\n", 100*s.LOS)
	// Output:
	// 60 games, score 0.625
	// Elo +89, from -2 to +180
	// likelihood of superiority 97.2 %
}

// A sequential test of such results: is the first bot stronger by 20 Elo, or not at all?
func ExampleSPRT_Test() {
	test, err := stats.ParseSPRT("elo0=0,elo1=20")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tens := range []int{3, 12} {
		p := test.Test(tally(tens))
		fmt.Printf("%d deals: LLR %.2f between %.2f and %.2f: %s\n", 10*tens, p.LLR, p.Lower, p.Upper, p.Verdict)
	}
	// Output:
	// 30 deals: LLR 0.81 between -2.94 and 2.94: continue
	// 120 deals: LLR 3.23 between -2.94 and 2.94: H1
}

// The ratings of three bots. The deals between A and C were not played.
func ExampleFitPairs() {
	fit := stats.FitPairs(3, []stats.Pair{
		{A: 0, B: 1, Deals: 100, Score: 64, Squares: 55},
		{A: 1, B: 2, Deals: 100, Score: 57, Squares: 48},
	}, &stats.Anchor{Bot: 2, Elo: 1000})
	estimates, err := fit.Intervals()
	if err != nil {
		fmt.Println(err)
		return
	}
	for bot, e := range estimates {
		fmt.Printf("%c: %.0f ± %.0f\n", 'A'+bot, e.Value, e.PlusMinus())
	}
	// Output:
	// A: 1148 ± 78
	// B: 1049 ± 55
	// C: 1000 ± 0
}
