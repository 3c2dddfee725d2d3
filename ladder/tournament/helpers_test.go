package tournament

import (
	"github.com/timba-arena/timba/referee/rating"
)

// sheetOf returns a deal at which everybody has a side of its own and more points
// rank better.
func sheetOf(bots []int, points []float64) (s rating.Sheet) {
	var seats []rating.Seat
	for i, b := range bots {
		rank := 1
		for _, p := range points {
			if p > points[i] {
				rank++
			}
		}
		seats = append(seats, rating.Seat{Bot: b, Side: i, Rank: rank, Points: points[i]})
	}
	s.Add(seats)
	return s
}
