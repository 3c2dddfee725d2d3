package rating

import (
	"math"
	"testing"
)

// tallyOfCounts has the deals in each class of k/2g, lowest first.
func tallyOfCounts(t *testing.T, games int, counts ...int) *Tally {
	t.Helper()
	tally := new(Tally)
	for k, n := range counts {
		for range n {
			d := Duel{A: 0, B: 1, Games: games, Score: float64(k) / float64(len(counts)-1)}
			if err := tally.Add(d); err != nil {
				t.Fatal(err)
			}
		}
	}
	return tally
}

// The figures are those that the tests of fastchess publish for the same
// counts, to their two decimals.
func TestSPRTKnownRatios(t *testing.T) {
	for _, c := range []struct {
		test   string
		games  int
		counts []int
		want   float64
	}{
		{"elo0=0.5,elo1=2.5", 2, []int{223, 9863, 21279, 10037, 246}, -3.07},
		{"elo0=0,elo1=2", 2, []int{871, 26175, 55983, 26678, 821}, -4.98},
		{"elo0=0.5,elo1=2.5", 1, []int{21184, 40708, 21404}, -1.57},
		{"elo0=0,elo1=2", 1, []int{57030, 106593, 57433}, -2.59},
		{"elo0=0,elo1=2,model=normalized", 2, []int{365, 16618, 36229, 16974, 390}, 2.25},
		{"elo0=-1.75,elo1=0.25,model=normalized", 2, []int{127, 4883, 10712, 5150, 104}, 3.01},
		{"elo0=0,elo1=2,model=normalized", 1, []int{36027, 68692, 36433}, 0.92},
		{"elo0=-1.75,elo1=0.25,model=normalized", 1, []int{10650, 20431, 10871}, 2.30},
	} {
		test, err := ParseSPRT(c.test)
		if err != nil {
			t.Fatal(err)
		}
		got, err := test.Test(tallyOfCounts(t, c.games, c.counts...))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s %v: LLR %.4f, want %.2f", c.test, c.counts, got.LLR, c.want)
		if math.Abs(got.LLR-c.want) > 0.01*(1+math.Abs(c.want)) {
			t.Errorf("%s %v: LLR %.4f, want %.2f", c.test, c.counts, got.LLR, c.want)
		}
	}
}
