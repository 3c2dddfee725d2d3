package tournament

import (
	"github.com/timba-arena/timba/stats"
)

// resultOf returns a deal at which everybody has a side of its own and more points rank better.
func resultOf(bots []int, points []float64) (s stats.DealResult) {
	var ranks []int
	for i := range bots {
		rank := 1
		for _, p := range points {
			if p > points[i] {
				rank++
			}
		}
		ranks = append(ranks, rank)
	}
	s.Add(stats.Seats(bots, func(seat int) int { return seat }, ranks, points))
	return s
}
