package stats

import (
	"cmp"
	"slices"
)

// Seat is the result of one seat, the place of a player, in one game.
type Seat struct {
	Bot    int // number of the bot that played the seat
	Side   int // number of the seat's team or, in games without teams, of the seat
	Rank   int // 1 is best; ties and team-mates have the same rank
	Points float64
}

// Seats returns the results of all seats of a game. bots, ranks and points have an element for each seat. side
// returns the team of a seat or, in games without teams, the seat itself.
func Seats(bots []int, side func(seat int) int, ranks []int, points []float64) []Seat {
	seats := make([]Seat, len(bots))
	for i, bot := range bots {
		seats[i] = Seat{Bot: bot, Side: side(i), Rank: ranks[i], Points: points[i]}
	}
	return seats
}

// DealResult sums up the games of one deal (one shuffle or start position), which is played once for each
// assignment of the bots to the seats. The zero value has no games.
type DealResult struct {
	sums map[[2]int]Duel
}

// Add adds one game, given the result of every seat. Two seats are opponents if they belong to different bots and
// different teams. The score between two bots compares the best rank of each, among its seats that have an opponent
// in the other bot. Their difference in points is the mean over all pairs of such opponents, where each seat counts
// with the points of its whole team.
func (s *DealResult) Add(seats []Seat) {
	side := make(map[int]float64, len(seats))
	for _, seat := range seats {
		side[seat.Side] += seat.Points
	}
	game, best := make(map[[2]int]Duel), make(map[[2]int][2]int)
	for _, a := range seats {
		for _, b := range seats {
			if a.Bot >= b.Bot || a.Side == b.Side {
				continue
			}
			addDuel(game, Duel{A: a.Bot, B: b.Bot, Games: 1, Points: side[a.Side] - side[b.Side]})
			ranks, ok := best[[2]int{a.Bot, b.Bot}]
			if !ok {
				ranks = [2]int{a.Rank, b.Rank}
			}
			best[[2]int{a.Bot, b.Bot}] = [2]int{min(ranks[0], a.Rank), min(ranks[1], b.Rank)}
		}
	}
	if s.sums == nil {
		s.sums = make(map[[2]int]Duel)
	}
	for key, d := range game {
		ranks := best[key]
		addDuel(s.sums, Duel{A: d.A, B: d.B, Games: 1, Score: RankScore(ranks[0], ranks[1]), Points: d.Points / float64(d.Games)})
	}
}

// Deal returns the result of the games added so far: a Duel for every two bots that were opponents, with A < B,
// sorted by A, then B.
func (s *DealResult) Deal() Deal {
	deal := make(Deal, 0, len(s.sums))
	for _, d := range s.sums {
		n := float64(d.Games)
		// A mean of halves is at most 1, but a mean of thirds may round above it.
		d.Score, d.Points = min(d.Score/n, 1), d.Points/n
		deal = append(deal, d)
	}
	slices.SortFunc(deal, func(x, y Duel) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return deal
}

// addDuel adds the games, score and points of d to the sums for the same two bots in the given map.
func addDuel(to map[[2]int]Duel, d Duel) {
	key := [2]int{d.A, d.B}
	sum := to[key]
	sum.A, sum.B = d.A, d.B
	sum.Games += d.Games
	sum.Score += d.Score
	sum.Points += d.Points
	to[key] = sum
}

// RankScore returns the score of a seat with rank a against one with rank b: 1 if a is better (lower), 0.5 if
// they are equal, otherwise 0.
func RankScore(a, b int) float64 {
	switch {
	case a < b:
		return 1
	case a > b:
		return 0
	}
	return 0.5
}
