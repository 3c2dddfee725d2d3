package rating

import (
	"math"
	"testing"

	"github.com/timba-arena/timba/stats"
)

// Every match gives finite ratings, and the same bits again.
func FuzzMatch(f *testing.F) {
	f.Add(1000.0, 1180.0, 30.0, 0.05, 0.65, uint8(2), uint8(2))
	f.Add(-4000.0, 1e15, 1e6, 0.0, 1.0, uint8(4), uint8(2))
	f.Add(0.0, math.Inf(1), math.NaN(), -1.0, 2.0, uint8(5), uint8(5))
	f.Fuzz(func(t *testing.T, a, b, ua, ub, score float64, slots, teams uint8) {
		for _, x := range []float64{a, b, ua, ub} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return
			}
		}
		if ua < 0 || ub < 0 || !(score >= 0 && score <= 1) {
			return // they are not of a match
		}
		n := 2 + int(slots%5)
		sides := 2 + int(teams)%(n-1)
		players, side := make([]Player, n), make([]int, n)
		for i := range players {
			side[i] = i % sides
			players[i] = Player{Elo: a, Uncertainty: ua, Fixed: i == 6}
			if i%2 == 1 {
				players[i] = Player{Elo: b, Uncertainty: ub}
			}
		}
		var d stats.Deal
		for i := range n {
			for j := range i {
				if side[i] != side[j] {
					d = append(d, stats.Duel{A: i, B: j, Games: 1, Score: score})
				}
			}
		}
		moves := Current.matchChanges(players, side, []stats.Deal{d}, 1)
		again := Current.matchChanges(players, side, []stats.Deal{d}, 1)
		for i, m := range moves {
			if m != again[i] {
				t.Fatalf("slot %d: %+v, and %+v the second time", i, m, again[i])
			}
			huge := math.Abs(a) > 1e12 || math.Abs(b) > 1e12 || ua > 1e12 || ub > 1e12
			if !huge && (math.IsNaN(m.EloAfter) || math.IsInf(m.EloAfter, 0) || !(m.Uncertainty >= 0) || m.K < 0) {
				t.Fatalf("slot %d: %+v", i, m)
			}
		}
	})
}
