//go:build !race || slowrace

package stats

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
	}
}

func TestEloScoreInverse(t *testing.T) {
	for elo, score := range map[float64]float64{0: 0.5, 400: 10.0 / 11, -400: 1.0 / 11, 100: 0.640065} {
		near(t, "score", Score(elo), score, 1e-6)
		near(t, "elo", Elo(Score(elo)), elo, 1e-9)
	}
}

func TestEstimateJSON(t *testing.T) {
	got, err := json.Marshal(Estimate{Value: 1.5, Low: -2, High: math.Inf(1)})
	if want := `{"value":1.5,"low":-2,"high":null}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestMeanStudent(t *testing.T) {
	// Mean 3, standard deviation sqrt(2.5), t(0.975; 4) = 2.776445.
	e := Mean([]float64{1, 2, 3, 4, 5})
	near(t, "mean", e.Value, 3, 1e-12)
	near(t, "half width", e.PlusMinus(), 2.776445*math.Sqrt(2.5/5), 1e-5)
	if e := Mean([]float64{7}); e.Value != 7 || !math.IsInf(e.Low, -1) || !math.IsInf(e.High, 1) {
		t.Errorf("one value gives %v, want 7 and nothing bounded", e)
	}
}

// TestProportion checks that a share of games has the interval of as many deals of one game.
func TestProportion(t *testing.T) {
	for _, c := range []struct{ won, games int }{{0, 1}, {0, 20}, {3, 20}, {50, 100}, {83, 100}, {100, 100}} {
		var duels []Duel
		for i := range c.games {
			d := Duel{B: 1, Games: 1}
			if i < c.won {
				d.Score = 1
			}
			duels = append(duels, d)
		}
		tally := tallyOf(duels)
		got, want := Proportion(float64(c.won)/float64(c.games), c.games), tally.Summary().Score
		near(t, "low", got.Low, want.Low, 1e-12)
		near(t, "high", got.High, want.High, 1e-12)
	}
	if got := Proportion(0.5, 0); got.Low != 0 || got.High != 1 {
		t.Errorf("of no games: %v", got)
	}
}

func TestSummaryWithoutDeals(t *testing.T) {
	s := new(Tally).Summary()
	if s.LOS != 0.5 || s.Score != (Estimate{0.5, 0, 1}) || s.Elo != (Estimate{0, math.Inf(-1), math.Inf(1)}) {
		t.Errorf("%+v", s)
	}
}

func TestSummarySweep(t *testing.T) {
	last := 0.0
	for _, deals := range []int{1, 2, 5, 20, 200} {
		s := tallyOfCounts(t, 2, 0, 0, 0, 0, deals).Summary()
		if !s.Swept || !math.IsInf(s.Elo.High, 1) || s.Score.High != 1 {
			t.Errorf("%d deals all won: %+v is not open above", deals, s)
		}
		if math.IsInf(s.Elo.Value, 0) || s.Elo.Value <= last || s.Elo.Low >= s.Elo.Value {
			t.Errorf("%d deals all won: Elo %+v, the sweep before had %v", deals, s.Elo, last)
		}
		if s.LOS <= 0.5 || s.LOS > 1 {
			t.Errorf("%d deals all won: LOS %v", deals, s.LOS)
		}
		last = s.Elo.Value
		lost := tallyOfCounts(t, 2, deals, 0, 0, 0, 0).Summary()
		near(t, "Elo of the loser", lost.Elo.Value, -s.Elo.Value, 1e-9)
	}
}

// TestSummaryFewEqualDeals checks that a few equal deals, which have no variance, do not count as certainty.
func TestSummaryFewEqualDeals(t *testing.T) {
	for deals, least := range map[int]float64{1: 0.4, 2: 0.25, 5: 0.1} {
		s := tallyOfCounts(t, 2, 0, 0, deals, 0, 0).Summary()
		if s.Score.PlusMinus() < least {
			t.Errorf("%d even deals: the score is known to ± %v, less than %v", deals, s.Score.PlusMinus(), least)
		}
		near(t, "LOS", s.LOS, 0.5, 1e-12)
	}
}

func TestSummaryClasses(t *testing.T) {
	s := tallyOfCounts(t, 2, 1, 0, 3, 2, 4).Summary()
	want := []ScoreClass{{0, 1}, {0.5, 3}, {0.75, 2}, {1, 4}}
	if diff := cmp.Diff(want, s.Classes); diff != "" {
		t.Error(diff)
	}
	if s.Deals != 10 || s.Games != 20 {
		t.Errorf("%d deals and %d games", s.Deals, s.Games)
	}
	near(t, "score", s.Score.Value, 0.7, 1e-12)
	near(t, "Elo", s.Elo.Value, Elo(0.7), 1e-9)
}

// TestSummaryLargeSample compares the interval for many deals with the normal approximation.
func TestSummaryLargeSample(t *testing.T) {
	s := tallyOfCounts(t, 2, 1000, 2000, 4000, 2500, 1500).Summary()
	mean := (0.25*2000 + 0.5*4000 + 0.75*2500 + 1500) / 11000
	square := (0.0625*2000 + 0.25*4000 + 0.5625*2500 + 1500) / 11000
	h := z95 * math.Sqrt((square-mean*mean)/11000)
	near(t, "half width", s.Score.PlusMinus(), h, h*0.002)
	near(t, "low", s.Elo.Low, Elo(mean-h), 0.05)
	near(t, "high", s.Elo.High, Elo(mean+h), 0.05)
}

// TestSummaryCoverage checks that 95 % intervals contain the true value in 95 % of 1,000 tests, or more for
// very few deals, although the games of a deal are correlated.
func TestSummaryCoverage(t *testing.T) {
	const tests = 1000
	for _, c := range []struct {
		name    string
		game    simGame
		elo     float64
		deals   int
		highest float64
	}{
		{"cards", cards, 0, 5, 1}, {"cards", cards, 50, 30, 0.985}, {"cards", cards, 200, 100, 0.97},
		{"cards", cards, 500, 30, 0.985}, {"board", board, 0, 30, 0.985}, {"board", board, 200, 100, 0.97},
	} {
		r, skill := simRand(uint64(c.deals)), c.game.skill(c.elo)
		elo, points, sum := 0, 0, 0.0
		for range tests {
			s := c.game.tally(r, skill, c.deals).Summary()
			if s.Elo.within(c.elo) {
				elo++
			}
			if s.Points.within(skill) {
				points++
			}
			sum += s.Score.Value
		}
		rate := float64(elo) / tests
		t.Logf("%s, %v Elo, %d deals: Elo covered %.3f, points %.3f, mean score %+.4f off",
			c.name, c.elo, c.deals, rate, float64(points)/tests, sum/tests-Score(c.elo))
		if rate < 0.93 || rate > c.highest {
			t.Errorf("%s, %v Elo, %d deals: the Elo interval covers %.3f", c.name, c.elo, c.deals, rate)
		}
		near(t, "points covered", float64(points)/tests, 0.95, 0.02)
		near(t, "mean score", sum/tests, Score(c.elo), 4*0.5/math.Sqrt(float64(tests*c.deals)))
	}
}

// TestLOSCalibration checks that, among random pairs of bots, those with a LOS of about x are truly superior
// in about x of the cases.
func TestLOSCalibration(t *testing.T) {
	const tests, bins = 6000, 10
	r := simRand(11)
	var sum, better, count [bins]float64
	for range tests {
		elo := 160 * (r.Float64() - 0.5)
		los := cards.tally(r, cards.skill(elo), 40).Summary().LOS
		b := min(int(los*bins), bins-1)
		sum[b] += los
		count[b]++
		if elo > 0 {
			better[b]++
		}
	}
	for b := range bins {
		mean, got := sum[b]/count[b], better[b]/count[b]
		t.Logf("LOS %.3f: superior in %.3f of %v", mean, got, count[b])
		near(t, "share truly superior", got, mean, 4*math.Sqrt(mean*(1-mean)/count[b])+0.01)
	}
}

func genScores(t *rapid.T) []float64 {
	return rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 4), func(k int) float64 { return float64(k) / 4 }), 1, 60).Draw(t, "scores")
}

func tallyOfScores(t *rapid.T, scores []float64) *Tally {
	duels := make([]Duel, len(scores))
	for i, s := range scores {
		duels[i] = Duel{A: 0, B: 1, Games: 2, Score: s, Points: 10 * s}
	}
	tally := tallyOf(duels)
	return tally
}

func TestSummaryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := genScores(t)
		s := tallyOfScores(t, scores).Summary()
		for name, e := range map[string]Estimate{"score": s.Score, "elo": s.Elo, "points": s.Points} {
			if !(e.Low <= e.Value && e.Value <= e.High) {
				t.Fatalf("%s %+v is not within its interval", name, e)
			}
		}
		if superior := s.LOS > 0.975; superior != (s.Score.Low > 0.5) && math.Abs(s.LOS-0.975) > 1e-9 {
			t.Fatalf("LOS %v and a score of %+v contradict each other", s.LOS, s.Score)
		}
		mirrored := slices.Clone(scores)
		for i := range mirrored {
			mirrored[i] = 1 - mirrored[i]
		}
		m := tallyOfScores(t, mirrored).Summary().Reverse()
		if math.Abs(m.Elo.Low-s.Elo.Low) > 1e-6 || math.Abs(m.LOS-s.LOS) > 1e-9 || !cmp.Equal(m.Classes, s.Classes) {
			t.Fatalf("from the other side %+v, from this %+v", m, s)
		}
		// The same deals twice give the same values with narrower intervals.
		twice := tallyOfScores(t, append(slices.Clone(scores), scores...)).Summary()
		if twice.Score.PlusMinus() >= s.Score.PlusMinus() {
			t.Fatalf("twice the deals give ± %v, once ± %v", twice.Score.PlusMinus(), s.Score.PlusMinus())
		}
		// A better deal raises score and Elo.
		i := rapid.IntRange(0, len(scores)-1).Draw(t, "deal")
		if scores[i] == 1 {
			return
		}
		scores[i] += 0.25
		if up := tallyOfScores(t, scores).Summary(); up.Elo.Value <= s.Elo.Value || up.Score.Value <= s.Score.Value {
			t.Fatalf("a better deal lowers Elo from %v to %v", s.Elo.Value, up.Elo.Value)
		}
	})
}

// tallyOf returns the tally of duels that all have the same A.
func tallyOf(duels []Duel) *Tally {
	t := new(Tally)
	for _, d := range duels {
		t.Add(d)
	}
	return t
}
