package rules

import (
	"iter"
	"slices"
)

// Ranks returns the rank of each seat; points has the points of each seat. A side (a seat, or the seats of a team)
// has the sum of the points of its seats. All seats of a side have the same rank: 1 plus the number of sides with
// more points. Sides with equal points share a rank, as in 1, 1, 3.
func (v *Variant) Ranks(points []float64) []int {
	sums := make([]float64, v.Sides)
	for seat, p := range points {
		sums[v.Side(seat)] += p
	}
	ranks := make([]int, len(points))
	for seat := range points {
		ranks[seat] = 1
		for _, sum := range sums {
			if sum > sums[v.Side(seat)] {
				ranks[seat]++
			}
		}
	}
	return ranks
}

// BotAt returns the index of the bot that plays a seat in a rotation, one of several assignments of the bots to the
// seats. bots is the number of bots. In rotation 0, bot i has seat i. In each further rotation every bot moves one
// seat down: bot 1 to seat 0, and bot 0 to the last seat.
func BotAt(seat, rotation, bots int) int { return (seat + rotation) % bots }

// Record counts games and their results. A bot has won a game if it alone has rank 1, and drawn it if it shares rank
// 1.
type Record struct{ Games, Wins, Draws, Losses int }

// RecordOf returns the record of a single game from the viewpoint of one seat's side. ranks has the rank of each
// seat.
func RecordOf(v *Variant, ranks []int, seat int) Record {
	bots := make([]int, len(ranks))
	for s := range bots {
		bots[s] = v.Side(s)
	}
	return record(v, bots, ranks, v.Side(seat))
}

// Records yields each bot that took part in a finished game, with its record in that game. bots and ranks have
// the bot and the rank of each seat. A bot loses if none of its seats has the first rank. It has a draw if
// another side shares the first rank, or if the bot plays for every side. Otherwise it wins.
func Records(v *Variant, bots, ranks []int) iter.Seq2[int, Record] {
	return func(yield func(int, Record) bool) {
		for seat, bot := range bots {
			if !slices.Contains(bots[:seat], bot) && !yield(bot, record(v, bots, ranks, bot)) {
				return
			}
		}
	}
}

func record(v *Variant, bots, ranks []int, bot int) Record {
	var own, first Seats // sides of the bot, sides with the first rank
	for seat, b := range bots {
		if b == bot {
			own |= OneSeat(v.Side(seat))
		}
		if ranks[seat] == 1 {
			first |= OneSeat(v.Side(seat))
		}
	}
	switch {
	case own&first == 0:
		return Record{Games: 1, Losses: 1}
	case first&^own != 0 || int(own) == 1<<v.Sides-1:
		return Record{Games: 1, Draws: 1}
	}
	return Record{Games: 1, Wins: 1}
}

// Add adds the counts of o to r.
func (r *Record) Add(o Record) {
	r.Games += o.Games
	r.Wins += o.Wins
	r.Draws += o.Draws
	r.Losses += o.Losses
}
