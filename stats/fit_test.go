//go:build !race || slowrace

package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
)

// fitDeals returns the result of FitPairs for the given deals.
func fitDeals(bots int, deals []Deal) *Fit { return FitPairs(bots, Count(deals), nil) }

// TestFitTwoBots compares the ratings of two bots with the closed form, which is the score with the virtual tie of
// the prior.
func TestFitTwoBots(t *testing.T) {
	f := FitPairs(2, []Pair{{A: 1, B: 0, Deals: 40, Score: 29.5}}, nil)
	want := Elo(30.0 / 41)
	near(t, "gap", f.Elo[1]-f.Elo[0], want, 1e-3)
	near(t, "mean", f.Elo[1]+f.Elo[0], 0, 1e-9)
	if diff := cmp.Diff([]float64{40, 40}, f.Deals); diff != "" {
		t.Error(diff)
	}
}

// checkExpected checks Hunter's condition for the maximum: the score of every bot, including the prior, is
// the one that its rating predicts.
func checkExpected(t interface{ Fatalf(string, ...any) }, f *Fit) {
	surplus := make([]float64, len(f.Elo))
	for k, p := range f.pairs {
		d := p.Score + f.virtual[k]/2 - (p.Deals+f.virtual[k])*Score(f.Elo[p.A]-f.Elo[p.B])
		surplus[p.A] += d
		surplus[p.B] -= d
	}
	for i, s := range surplus {
		if math.Abs(s) > 1e-4*(1+f.Deals[i]) {
			t.Fatalf("bot %d of %d scores %v more than its rating expects in %v deals", i, len(f.Elo), s, f.Deals[i])
		}
	}
}

func TestFitRecoversLadder(t *testing.T) {
	for _, reach := range []int{1, 10, 300} {
		elos, deals := ladderDeals(5, 300, 60_000, reach)
		f := fitDeals(300, deals)
		checkExpected(t, f)
		intervals := kit.Get[[]Estimate](t)(f.Intervals())
		covered, slope, square := 0, 0.0, 0.0
		for i, e := range elos {
			if intervals[i].within(e) {
				covered++
			}
			slope += f.Elo[i] * e
			square += e * e
		}
		t.Logf("reach %d: slope %.3f, covered %d of 300", reach, slope/square, covered)
		if reach > 1 { // a chain of neighbours wanders as one
			near(t, "slope on the truth", slope/square, 1, 0.05)
		}
		if reach == 300 && covered < 270 {
			t.Errorf("intervals cover %d of 300", covered)
		}
	}
}

// TestFitUnbiased checks that the mean of the ratings of many tournaments is the true rating.
func TestFitUnbiased(t *testing.T) {
	elos := []float64{-210, -100, -20, 30, 90, 210}
	const tests = 200
	r, sum := simRand(4), make([]float64, len(elos))
	for range tests {
		f := fitDeals(len(elos), cards.tournament(r, elos, 20))
		for i, e := range f.Elo {
			sum[i] += e / tests
		}
	}
	t.Logf("mean ratings %.1f of %v", sum, elos)
	for i, e := range elos {
		near(t, "mean rating", sum[i], e, 6)
	}
}

func TestFitSweepAndStrangers(t *testing.T) {
	// Bot 0 always beats 1 and 2; 3 and 4 played only each other; 5 played nobody.
	pairs := []Pair{{A: 0, B: 1, Deals: 10, Score: 10, Squares: 10}, {A: 0, B: 2, Deals: 10, Score: 10, Squares: 10},
		{A: 1, B: 2, Deals: 10, Score: 5, Squares: 5}, {A: 3, B: 4, Deals: 4, Score: 3, Squares: 2.5}}
	f := FitPairs(6, pairs, nil)
	if diff := cmp.Diff([]int{0, 0, 0, 3, 3, 5}, f.Group); diff != "" {
		t.Errorf("groups:\n%s", diff)
	}
	if f.Elo[0] < 250 || f.Elo[0] > 1000 || math.Abs(f.Elo[1]-f.Elo[2]) > 1e-3 {
		t.Errorf("ratings %v", f.Elo)
	}
	near(t, "mean of the first group", f.Elo[0]+f.Elo[1]+f.Elo[2], 0, 1e-6)
	near(t, "mean of the second", f.Elo[3]+f.Elo[4], 0, 1e-6)
	near(t, "the stranger", f.Elo[5], 0, 0)
	intervals := kit.Get[[]Estimate](t)(f.Intervals())
	deals := []Deal{{{0, 1, 2, 1, 0}}, {{0, 1, 2, 1, 0}}, {{3, 4, 2, 0.75, 0}}, {{3, 4, 2, 1, 0}}, {{1, 2, 2, 0.5, 0}}, {{0, 2, 2, 1, 0}}}
	boot := Bootstrap(6, deals)
	for name, e := range map[string][]Estimate{"sandwich": intervals, "bootstrap": boot} {
		if !math.IsInf(e[5].High, 1) || !math.IsInf(e[5].Low, -1) {
			t.Errorf("%s: the stranger's %+v is bounded", name, e[5])
		}
		if w := e[0].PlusMinus(); w < 100 || w > 1500 {
			t.Errorf("%s: a sweep's rating is known to ± %.0f", name, w)
		}
	}
}

func TestFitAnchor(t *testing.T) {
	pairs := []Pair{{A: 0, B: 1, Deals: 50, Score: 30, Squares: 20}, {A: 1, B: 2, Deals: 50, Score: 35, Squares: 27}, {A: 3, B: 4, Deals: 2, Score: 1, Squares: 1}}
	free := FitPairs(5, pairs, nil)
	fixed := FitPairs(5, pairs, &Anchor{Bot: 2, Elo: 1500})
	if fixed.Elo[2] != 1500 {
		t.Errorf("the anchor is at %v", fixed.Elo[2])
	}
	near(t, "gap", fixed.Elo[0]-fixed.Elo[2], free.Elo[0]-free.Elo[2], 1e-6)
	intervals := kit.Get[[]Estimate](t)(fixed.Intervals())
	if intervals[2] != (Estimate{1500, 1500, 1500}) {
		t.Errorf("the anchor's interval is %+v", intervals[2])
	}
	if intervals[0].PlusMinus() <= intervals[1].PlusMinus() {
		t.Errorf("bot 0 is known to ± %v, bot 1, which met the anchor, to ± %v", intervals[0].PlusMinus(), intervals[1].PlusMinus())
	}
	if !math.IsInf(intervals[3].Low, -1) {
		t.Errorf("bot 3 has no deals to relate it to the anchor, and yet %+v", intervals[3])
	}
}

func TestFitNobody(t *testing.T) {
	for _, f := range []*Fit{FitPairs(0, nil, nil), FitBouts(0, nil, nil)} {
		if list, err := f.Intervals(); err != nil || len(f.Elo)+len(list) != 0 {
			t.Errorf("no bots have ratings %v, %v, %v", f.Elo, list, err)
		}
	}
}

func genPairs(t *rapid.T) (int, []Pair) {
	bots := rapid.IntRange(2, 9).Draw(t, "bots")
	pairs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Pair {
		a := rapid.IntRange(0, bots-1).Draw(t, "a")
		b := (a + rapid.IntRange(1, bots-1).Draw(t, "b")) % bots
		n := rapid.IntRange(0, 50).Draw(t, "deals")
		s := float64(rapid.IntRange(0, 4*n).Draw(t, "quarters")) / 4
		return Pair{A: a, B: b, Deals: float64(n), Score: s, Squares: s}
	}), 0, 30).Draw(t, "pairs")
	return bots, pairs
}

func TestFitProperties(t *testing.T) {
	approx := cmpopts.EquateApprox(0, 0.01)
	rapid.Check(t, func(t *rapid.T) {
		bots, pairs := genPairs(t)
		f := FitPairs(bots, pairs, nil)
		checkExpected(t, f)
		// The order and the direction of the pairs, and how they are split, make no difference.
		var other []Pair
		for _, p := range slices.Backward(pairs) {
			half := Pair{A: p.B, B: p.A, Deals: p.Deals / 2, Score: (p.Deals - p.Score) / 2}
			other = append(other, half, half)
		}
		if got := FitPairs(bots, other, nil); !cmp.Equal(got.Elo, f.Elo, approx) {
			t.Fatalf("reversed: %v, want %v", got.Elo, f.Elo)
		}
		if intervals, err := f.Intervals(); err != nil || len(intervals) != bots {
			t.Fatalf("intervals %v, %v", intervals, err)
		}
		// A won instead of a lost deal raises the rating of the winner and not that of the loser.
		for i, p := range pairs {
			if p.Deals-p.Score < 1 {
				continue
			}
			pairs[i].Score++
			up := FitPairs(bots, pairs, nil)
			if up.Elo[p.A] <= f.Elo[p.A] || up.Elo[p.B] >= f.Elo[p.B] {
				t.Fatalf("bot %d won a deal more: from %v to %v, bot %d from %v to %v",
					p.A, f.Elo[p.A], up.Elo[p.A], p.B, f.Elo[p.B], up.Elo[p.B])
			}
			break
		}
	})
}

func TestCountMerges(t *testing.T) {
	deals := []Deal{
		{{0, 2, 2, 0.75, 0}, {1, 2, 2, 1, 0}}, {{0, 2, 2, 0.5, 0}}, {{0, 1, 2, 1, 0}},
	}
	got := Count(deals)
	want := []Pair{
		{A: 0, B: 1, Deals: 1, Score: 1, Squares: 1},
		{A: 0, B: 2, Deals: 2, Score: 1.25, Squares: 0.8125},
		{A: 1, B: 2, Deals: 1, Score: 1, Squares: 1},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

// TestBootstrapDrawsDeals checks that the deal is resampled, not the duel: a bot that beats two others, or
// loses to both, in every deal has wider intervals than one with twice the deals.
func TestBootstrapDrawsDeals(t *testing.T) {
	r := simRand(2)
	var whole, split []Deal
	for range 200 {
		x := coin(r, 0)
		deal := Deal{{0, 1, 2, x, 0}, {0, 2, 2, x, 0}}
		whole = append(whole, deal)
		split = append(split, deal[:1], deal[1:])
	}
	width := func(deals []Deal) float64 {
		e := bootstrap(3, deals, 2000, 0)
		return e[0].PlusMinus()
	}
	near(t, "width of deals over that of duels", width(whole)/width(split), math.Sqrt2, 0.1)
}

// TestRatingCoverage checks both kinds of intervals for tournaments of two bots per deal, and the bootstrap
// for three bots per deal, whose duels depend on each other.
func TestRatingCoverage(t *testing.T) {
	const tests = 150
	r := simRand(9)
	elos := []float64{-150, -30, 40, 140}
	boot, sandwich, races := 0, 0, 0
	for test := range tests {
		deals := cards.tournament(r, elos, 15)
		fit := fitDeals(len(elos), deals)
		intervals := kit.Get[[]Estimate](t)(fit.Intervals())
		estimates := bootstrap(len(elos), deals, 200, uint64(test))
		boot += covered(estimates, elos)
		sandwich += covered(intervals, elos)

		three := []float64{-60, 0, 60}
		deals = deals[:0]
		for range 60 {
			deals = append(deals, race(r, three))
		}
		estimates = bootstrap(3, deals, 200, uint64(test))
		races += covered(estimates, three)
	}
	for name, rate := range map[string]float64{
		"bootstrap":               float64(boot) / float64(tests*len(elos)),
		"sandwich":                float64(sandwich) / float64(tests*len(elos)),
		"bootstrap of three bots": float64(races) / float64(tests*3),
	} {
		t.Logf("%s covers %.3f", name, rate)
		if rate < 0.91 || rate > 0.985 {
			t.Errorf("%s covers %.3f of the true ratings", name, rate)
		}
	}
}

func covered(estimates []Estimate, truth []float64) int {
	n := 0
	for i, e := range estimates {
		if e.within(truth[i]) {
			n++
		}
	}
	return n
}
