//go:build !race

package matchmaking

import (
	"math"
	"slices"
	"testing"
)

// A pool chooses each opponent as often as the reference does.
func TestPoolOpponents(t *testing.T) {
	const choices = 40_000
	for _, uncertainty := range []float64{0.02, 30} {
		l := &referencePool{sides: []int{0, 1}, finished: 1000, players: experiencedPlayers(300)}
		for i := range l.players {
			p := &l.players[i]
			p.Elo, p.Uncertainty, p.Owner, p.LastOrder = 2*p.Elo/10, uncertainty*float64(1+i%3), int64(i%5), l.finished
		}
		l.players[150].LastOrder = 0
		own := l.players[150].ID
		met := map[int64]int{}
		for i := range int64(40) {
			met[130+i] = int(i) * 5
		}
		l.met = map[int64]map[int64]int{own: met}
		p := NewPool(l.sides, l.finished, slices.Clone(l.players))
		p.SetMeetings(own, met)
		r := newRand(1)
		want, got := map[int64]float64{}, map[int64]float64{}
		for range choices {
			slots := l.next(r)
			want[slots[0]+slots[1]-own]++
			slots, _ = p.Next(Constraints{}, r)
			got[slots[0]+slots[1]-own]++
		}
		// The difference of two counts with the same expected value.
		square, free := 0.0, 0.0
		for _, player := range l.players {
			if sum := want[player.ID] + got[player.ID]; sum >= 20 {
				square += (want[player.ID] - got[player.ID]) * (want[player.ID] - got[player.ID]) / sum
				free++
			}
		}
		if free < 10 || square > free+5*math.Sqrt(2*free) {
			t.Errorf("uncertainty %g: chi² is %.0f of %.0f opponents", uncertainty, square, free)
		}
	}
}
