package rules

import (
	"iter"
	"slices"
)

// Ranks returns the rank of each seat by the sum of its side's points. The best rank is 1. A seat's rank is 1
// plus the number of sides that did better, so that ties share a rank (1, 1, 3), and so do team-mates.
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

// BotAt returns the index of the bot that plays a seat in a rotation, in a game of the given number of bots.
func BotAt(seat, rotation, bots int) int { return (seat + rotation) % bots }

// Record counts the results of games. A win is an unshared first rank, a draw a shared first rank.
type Record struct{ Games, Wins, Draws, Losses int }

// RecordOf returns the record of one game for the side of a seat.
func RecordOf(v *Variant, ranks []int, seat int) Record {
	bots := make([]int, len(ranks))
	for s := range bots {
		bots[s] = v.Side(s)
	}
	return record(v, bots, ranks, v.Side(seat))
}

// Records yields each bot of a finished game with its record in that game. The game counts once for each bot,
// by its best seat. A bot wins if it has the first rank and no other side has it too. A bot that plays for
// every side has a draw. The slices bots and ranks have an element for each seat.
func Records(v *Variant, bots, ranks []int) iter.Seq2[int, Record] {
	return func(yield func(int, Record) bool) {
		for seat, bot := range bots {
			if !slices.Contains(bots[:seat], bot) && !yield(bot, record(v, bots, ranks, bot)) {
				return
			}
		}
	}
}

// record returns the record of a game for one bot.
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
