package rating

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Seat is how one seat came out of one game.
type Seat struct {
	Bot    int     // the bot that played it
	Side   int     // its team, or the seat itself
	Rank   int     // 1 is best, ties share; team-mates have the same
	Points float64 // as the game counts them
}

// Sheet collects the games of one deal, rotation by rotation. Its zero value
// is an empty sheet.
type Sheet struct {
	sums map[[2]int]Duel
}

// Add takes one game in. Two seats are opponents when their sides differ; they
// score by rank, and their points are those of their whole side. A bot with
// several seats has its mean over them, and seats of the same bot are never
// compared.
func (s *Sheet) Add(seats []Seat) error {
	side := make(map[int]float64, len(seats))
	for i, seat := range seats {
		if seat.Bot < 0 {
			return fmt.Errorf("rating: seat %d has bot %d; bots are numbered from 0", i, seat.Bot)
		}
		if math.IsNaN(seat.Points) || math.IsInf(seat.Points, 0) {
			return fmt.Errorf("rating: seat %d has %v points, not a finite number", i, seat.Points)
		}
		side[seat.Side] += seat.Points
	}
	game := make(map[[2]int]Duel)
	for i, a := range seats {
		for _, b := range seats[i+1:] {
			if a.Bot == b.Bot || a.Side == b.Side {
				continue
			}
			d := Duel{A: a.Bot, B: b.Bot, Games: 1, Score: rankScore(a.Rank, b.Rank), Points: side[a.Side] - side[b.Side]}
			if d.A > d.B {
				d = d.Reverse()
			}
			add(game, d)
		}
	}
	if s.sums == nil {
		s.sums = make(map[[2]int]Duel)
	}
	for _, d := range game {
		n := float64(d.Games)
		add(s.sums, Duel{A: d.A, B: d.B, Games: 1, Score: d.Score / n, Points: d.Points / n})
	}
	return nil
}

// Deal is the deal so far: its duels with A < B, in the order of the bots.
func (s *Sheet) Deal() Deal {
	deal := make(Deal, 0, len(s.sums))
	for _, d := range s.sums {
		n := float64(d.Games)
		// A sum of halves divides to at most 1, but thirds may round past it.
		d.Score, d.Points = min(d.Score/n, 1), d.Points/n
		deal = append(deal, d)
	}
	slices.SortFunc(deal, func(x, y Duel) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return deal
}

// add sums scores, points and counts; the caller divides.
func add(to map[[2]int]Duel, d Duel) {
	key := [2]int{d.A, d.B}
	sum := to[key]
	sum.A, sum.B = d.A, d.B
	sum.Games += d.Games
	sum.Score += d.Score
	sum.Points += d.Points
	to[key] = sum
}

func rankScore(a, b int) float64 {
	switch {
	case a < b:
		return 1
	case a > b:
		return 0
	}
	return 0.5
}
