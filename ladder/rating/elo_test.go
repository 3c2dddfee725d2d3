package rating

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/stats"
)

func checkNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
	}
}

// deal returns a deal of two slots.
func deal(score float64) stats.Deal { return stats.Deal{{A: 0, B: 1, Games: 2, Score: score}} }

func TestExpected(t *testing.T) {
	for _, diff := range []float64{0, 1, 35, 100, 400, 1234, 5000, 1e6} {
		checkNear(t, "expected score", Current.ExpectedScore(diff), stats.Score(diff), 1e-12)
		checkNear(t, "both sides' sum", Current.ExpectedScore(diff)+Current.ExpectedScore(-diff), 1, 1e-15)
	}
	checkNear(t, "slope at 0", Current.EloPerScore*(Current.ExpectedScore(0.01)-Current.ExpectedScore(-0.01))/0.02, 1, 1e-6)
}

// Ratings have the same bits on every machine.
func TestExpectedBits(t *testing.T) {
	for diff, want := range map[float64]uint64{
		0: 0x3fe0000000000000, 35: 0x3fe19b3bac90232a, -100: 0x3fd7092ccfa21238, 400.5: 0x3fed193814da5723, -1234.25: 0x3f4ae1e6d587f44e,
	} {
		if got := math.Float64bits(Current.ExpectedScore(diff)); got != want {
			t.Errorf("Expected(%v) is %#x, want %#x", diff, got, want)
		}
	}
}

// K decreases with the number of matches and levels off. Against opponents whose Elo is certain the
// uncertainty is that of a mean of all matches, except for Forget.
func TestUncertaintyFalls(t *testing.T) {
	p := Player{Elo: Current.Start, Uncertainty: Current.Newcomer}
	last := math.Inf(1)
	for n := range 3000 {
		moves := Current.matchChanges([]Player{p, {Elo: p.Elo, Fixed: true}}, []int{0, 1}, []stats.Deal{deal(0.5)}, 1)
		m := moves[0]
		if !(m.K <= last) || !(m.K > 0) {
			t.Fatalf("K is %v at match %d, and %v before", m.K, n, last)
		}
		last, p.Uncertainty = m.K, m.Uncertainty
		if n < 5 {
			checkNear(t, "uncertainty", p.Uncertainty, 1/(1/Current.Newcomer+float64(n+1)), 3*Current.Forget)
		}
	}
	checkNear(t, "uncertainty of an old version", p.Uncertainty, math.Sqrt(Current.Forget), 0.001)
}

func TestMatch(t *testing.T) {
	old, fresh := Player{Elo: 1200, Uncertainty: 0.03}, Player{Elo: 1000, Uncertainty: Current.Newcomer}
	for _, c := range []struct {
		name    string
		players []Player
		sides   []int
		deals   []stats.Deal
		scores  []float64 // by slot
		signs   []float64 // of the changes
	}{
		{"as expected", []Player{old, old}, []int{0, 1}, []stats.Deal{deal(0.5)}, []float64{0.5, 0.5}, []float64{0, 0}},
		{"mean over deals", []Player{old, old}, []int{0, 1}, []stats.Deal{deal(0.75), deal(1), deal(0.5)}, []float64{0.75, 0.25}, []float64{1, -1}},
		{"swept", []Player{old, fresh}, []int{0, 1}, []stats.Deal{deal(0)}, []float64{0, 1}, []float64{-1, 1}},
		{"the anchor stays", []Player{{Elo: 1000, Fixed: true}, fresh}, []int{0, 1}, []stats.Deal{deal(0)}, []float64{0, 1}, []float64{0, 1}},
		{"three, each against each", []Player{old, old, old}, []int{0, 1, 2},
			[]stats.Deal{{{A: 0, B: 1, Score: 1}, {A: 0, B: 2, Score: 1}, {A: 2, B: 1, Score: 1}}}, []float64{1, 0, 0.5}, []float64{1, -1, 0}},
		{"teams across", []Player{old, fresh, fresh, old}, []int{0, 1, 0, 1},
			[]stats.Deal{{{A: 0, B: 1, Score: 0.75}, {A: 0, B: 3, Score: 0.75}, {A: 1, B: 2, Score: 0.25}, {A: 2, B: 3, Score: 0.75}}},
			[]float64{0.75, 0.25, 0.75, 0.25}, []float64{1, -1, 1, -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			moves := Current.matchChanges(c.players, c.sides, c.deals, 1)
			for i, m := range moves {
				checkNear(t, "score", m.Score, c.scores[i], 1e-15)
				checkNear(t, "after", m.EloAfter, m.EloBefore+m.K*(m.Score-m.ExpectedScore), 1e-9)
				if d := m.EloAfter - m.EloBefore; d*c.signs[i] < 0 || (d == 0) != (c.signs[i] == 0) {
					t.Errorf("slot %d moves by %v", i, d)
				}
			}
		})
	}
}

// drawMatch draws a match with two to five sides of the same size.
func drawMatch(t *rapid.T) ([]Player, []int, []stats.Deal) {
	teams, size := rapid.IntRange(2, 5).Draw(t, "teams"), rapid.IntRange(1, 3).Draw(t, "size")
	var players []Player
	var sides []int
	for slot := range teams * size {
		players = append(players, Player{
			Elo:         rapid.Float64Range(-500, 3000).Draw(t, "elo"),
			Uncertainty: rapid.Float64Range(0, Current.Newcomer).Draw(t, "uncertainty"),
			Fixed:       slot == 0 && rapid.Bool().Draw(t, "fixed"),
		})
		sides = append(sides, slot%teams)
	}
	var deals []stats.Deal
	for range rapid.IntRange(1, 5).Draw(t, "deals") {
		var d stats.Deal
		for a := range teams {
			for b := range a {
				score := float64(rapid.IntRange(0, 12).Draw(t, "score")) / 12
				for i := range size {
					for j := range size {
						d = append(d, stats.Duel{A: a + i*teams, B: b + j*teams, Games: 1, Score: score})
					}
				}
			}
		}
		deals = append(deals, d)
	}
	return players, sides, deals
}

func TestMatchProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		players, sides, deals := drawMatch(t)
		moves := Current.matchChanges(players, sides, deals, 1)
		scores, expected := 0.0, 0.0
		for i, m := range moves {
			size := len(players) / len(slices.Compact(slices.Sorted(slices.Values(sides))))
			if !(m.K >= 0 && m.K <= Current.EloPerScore*players[i].Uncertainty/float64(size)+1e-9) || math.IsNaN(m.EloAfter) {
				t.Fatalf("slot %d moves from %v to %v with K %v", i, m.EloBefore, m.EloAfter, m.K)
			}
			if players[i].Fixed && m.EloAfter != m.EloBefore {
				t.Fatalf("the anchor moves from %v to %v", m.EloBefore, m.EloAfter)
			}
			if m.Uncertainty < 0 || m.Uncertainty > players[i].Uncertainty+Current.Forget {
				t.Fatalf("slot %d is uncertain by %v after the match and by %v before", i, m.Uncertainty, players[i].Uncertainty)
			}
			scores, expected = scores+m.Score, expected+m.ExpectedScore
		}
		half := float64(len(players)) / 2
		if math.Abs(scores-half) > 1e-9 || math.Abs(expected-half) > 1e-9 {
			t.Fatalf("scores add up to %v and expected ones to %v, want %v", scores, expected, half)
		}
		// A match never moves two sides beyond the lead for which the score would have been expected.
		if len(players) == 2 {
			m := moves[0]
			if after := Current.ExpectedScore(m.EloAfter - moves[1].EloAfter); (m.Score-after)*(m.Score-m.ExpectedScore) < -1e-9 && !players[0].Fixed {
				t.Fatalf("a score of %v, where %v was expected, leads to an expected score of %v", m.Score, m.ExpectedScore, after)
			}
		}
		// Another order of slots and reversed duels give the same changes.
		n := len(players)
		mirror := make([]Player, n)
		mirrorSides := make([]int, n)
		for i := range players {
			mirror[n-1-i], mirrorSides[n-1-i] = players[i], sides[i]
		}
		var turned []stats.Deal
		for _, d := range deals {
			var other stats.Deal
			for _, duel := range d {
				duel.A, duel.B = n-1-duel.A, n-1-duel.B
				other = append(other, duel.Reverse())
			}
			turned = append(turned, other)
		}
		again := Current.matchChanges(mirror, mirrorSides, turned, 1)
		for i, m := range moves {
			if math.Abs(again[n-1-i].EloAfter-m.EloAfter) > 1e-9 {
				t.Fatalf("slot %d comes to %v, and to %v in the other order", i, m.EloAfter, again[n-1-i].EloAfter)
			}
		}
	})
}

// Ten matches with a tenth of the information change about as much as a whole one; a match without
// information changes nothing.
func TestShare(t *testing.T) {
	p := Player{Elo: Current.Start, Uncertainty: Current.Newcomer}
	for n := range 20 {
		moves := Current.matchChanges([]Player{p, {Elo: p.Elo, Fixed: true}}, []int{0, 1}, []stats.Deal{deal(0.5)}, 0.1)
		p.Uncertainty = moves[0].Uncertainty
		checkNear(t, "uncertainty", p.Uncertainty, 1/(1/Current.Newcomer+float64(n+1)/10), 3*Current.Forget)
	}
	old := Player{Elo: 1200, Uncertainty: 0.03}
	moves := Current.matchChanges([]Player{old, p}, []int{0, 1}, []stats.Deal{deal(0)}, 0)
	for i, before := range []Player{old, p} {
		if m := moves[i]; m.K != 0 || m.EloAfter != before.Elo || m.Uncertainty != before.Uncertainty || m.Score != float64(i) {
			t.Errorf("slot %d: nothing that is told moves %+v", i, m)
		}
	}
}
