//go:build !race || slowrace

package stats

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// printOf returns a fingerprint that is unique to n.
func printOf(n int) (f Fingerprint) {
	binary.BigEndian.PutUint64(f[:], uint64(n))
	return f
}

func TestRepeats(t *testing.T) {
	var r Repeats
	for i, c := range []struct {
		games    []int
		distinct bool
	}{
		{[]int{1, 2}, true},
		{[]int{1, 2}, false},
		{[]int{1, 3}, true},  // one of its games is new
		{[]int{2, 3}, false}, // both were played, in different deals
		{[]int{4, 4}, true},
	} {
		var games []Fingerprint
		for _, g := range c.games {
			games = append(games, printOf(g))
		}
		if got := r.Add(games); got != c.distinct {
			t.Errorf("deal %d is distinct: %v", i, got)
		}
	}
	if r.Distinct != 3 || r.InRow != 0 {
		t.Errorf("%d distinct, the last %d repeated", r.Distinct, r.InRow)
	}
}

// TestExhausted checks that a test continues until a new deal, if one existed and were as likely as the
// others, would have appeared with a probability of 95 %, and ends soon if none exists.
func TestExhausted(t *testing.T) {
	const tests = 2000
	for _, c := range []struct{ pool, most int }{{1, 15}, {2, 30}, {20, 200}, {500, 10_000}} {
		r, missed := simRand(uint64(c.pool)), 0
		for range tests / c.pool {
			var seen Repeats
			deals := 0
			for ; !seen.IsExhausted(); deals++ {
				seen.Add([]Fingerprint{printOf(r.IntN(c.pool))})
			}
			if seen.Distinct < c.pool {
				missed++
			}
			if deals > c.most {
				t.Errorf("of a pool of %d, %d deals were played", c.pool, deals)
			}
		}
		if rate := float64(missed) * float64(c.pool) / tests; rate > 0.06 {
			t.Errorf("of a pool of %d, %.3f of the tests ended before all was seen", c.pool, rate)
		}
	}
}

// repeated plays deals of which half are copies of earlier ones. It returns the distinct deals and all deals.
func (g simGame) repeated(r *rand.Rand, skill float64, deals int) (distinct, all []Duel) {
	var seen Repeats
	for range deals {
		n := len(all)
		d := g.deal(r, skill)
		if n > 0 && r.IntN(2) == 0 {
			n = r.IntN(len(distinct))
			d = distinct[n]
		} else {
			n = len(distinct)
		}
		all = append(all, d)
		if seen.Add([]Fingerprint{printOf(2 * n), printOf(2*n + 1)}) {
			distinct = append(distinct, d)
		}
	}
	return distinct, all
}

// TestRepeatsCoverage repeats half of all deals. 95 % intervals must contain the true value in 95 % ± 1 % of
// the tests; a LOS above 95 %, and sequential tests, must be wrong in one of twenty. Statistics that counted
// the repeated deals would claim more.
func TestRepeatsCoverage(t *testing.T) {
	kit.Slow(t)
	repeatsCoverage(t, coverage{"cards", cards, 100}, coverage{"board", board, 0})
}

// coverage is a game between bots with a given Elo difference.
type coverage struct {
	name string
	game simGame
	elo  float64
}

func repeatsCoverage(t *testing.T, list ...coverage) {
	t.Helper()
	const tests = 4000
	for _, c := range list {
		r, skill := simRand(7), c.game.skill(c.elo)
		held, naive, superior := 0, 0, 0
		for range tests {
			distinct, all := c.game.repeated(r, skill, 300)
			for to, duels := range map[*int][]Duel{&held: distinct, &naive: all} {
				tally := tallyOf(duels)
				s := tally.Summary()
				if s.Elo.within(c.elo) {
					*to++
				}
				if to == &held && s.LOS > 0.95 {
					superior++
				}
			}
		}
		rate, without := float64(held)/tests, float64(naive)/tests
		t.Logf("%s, %v Elo: covered %.4f, with all deals %.4f", c.name, c.elo, rate, without)
		if math.Abs(rate-0.95) > 0.01 {
			t.Errorf("%s, %v Elo: the interval covers %.4f", c.name, c.elo, rate)
		}
		if without > 0.92 {
			t.Errorf("%s, %v Elo: with all deals the interval covers %.4f, so nothing is tested", c.name, c.elo, without)
		}
		if got := float64(superior) / tests; c.elo == 0 && math.Abs(got-0.05) > 0.012 {
			t.Errorf("%s: a LOS over 95 %% between equal bots in %.4f of the tests", c.name, got)
		}
	}
}

// TestRepeatsCoverageOfRatings does the same as TestRepeatsCoverage for the ratings of a tournament and a
// sequential test.
func TestRepeatsCoverageOfRatings(t *testing.T) {
	kit.Slow(t)
	const tests = 1000
	r, elos := simRand(5), []float64{-100, 0, 100}
	held := 0
	for range tests {
		var deals []Deal
		for i := range elos {
			for j := range i {
				distinct, _ := cards.repeated(r, cards.skill(elos[j]-elos[i]), 80)
				for _, d := range distinct {
					d.A, d.B = j, i
					deals = append(deals, Deal{d})
				}
			}
		}
		fit := fitDeals(len(elos), deals)
		intervals := kit.Get[[]Estimate](t)(fit.Intervals())
		held += covered(intervals, elos)
	}
	if rate := float64(held) / float64(tests*len(elos)); math.Abs(rate-0.95) > 0.01 {
		t.Errorf("the intervals of ratings cover %.4f", rate)
	}
	s := mustSPRT(t, "elo0=0,elo1=30")
	wrong := 0
	for range tests {
		distinct, _ := board.repeated(r, board.skill(0), 1200)
		tally, p := new(Tally), Progress{Verdict: Continue}
		for _, d := range distinct {
			tally.Add(d)
			p = s.Test(tally)
			if p.Verdict != Continue {
				break
			}
		}
		if p.Verdict == AcceptH1 {
			wrong++
		}
	}
	if rate, limit := float64(wrong)/tests, 0.05+2.33*math.Sqrt(0.05*0.95/tests); rate > limit {
		t.Errorf("H1 was accepted in %.4f of the tests, at most %.4f", rate, limit)
	}
}
