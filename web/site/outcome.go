package site

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/rating"
)

// shownMatch is a match with how it ended.
type shownMatch struct {
	ladder.Match
	Outcome *outcome // nil: it is not finished
}

// outcome says who won a match, from its games. A side is a bot, or the partners of a team.
type outcome struct {
	Sides [][]int   // the slots of each side, the best side first
	score []float64 // of two sides: games won, and half of those drawn
	First int       // games in which the best side was first, alone or not
	Games int
	Tied  bool // the best two are equal
}

// outcomeOf returns who won a match of so many bots on so many sides. In each game a side gets the
// share of its opponents that it beat, and half of those with the same rank.
func outcomeOf(bots, sides int, games []ladder.Game) *outcome {
	n := min(bots, sides) // one bot may play for all seats of a side
	score, first := make([]float64, n), make([]int, n)
	var all rating.DealResult
	for _, g := range games {
		seats, won := make([]rating.Seat, len(g.Seats)), make([]int, n)
		for i, s := range g.Seats {
			side := s.Slot % n
			seats[i] = rating.Seat{Bot: side, Side: side, Rank: s.Rank}
			if s.Rank == 1 {
				won[side] = 1
			}
		}
		all.Add(seats)
		for side := range won {
			first[side] += won[side]
		}
	}
	for _, d := range all.Deal() {
		part := float64(d.Games) / float64(n-1)
		score[d.A] += d.Score * part
		score[d.B] += (1 - d.Score) * part
	}
	order := make([]int, n)
	for side := range order {
		order[side] = side
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	o := &outcome{Games: len(games), First: first[order[0]], Tied: n > 1 && score[order[0]]-score[order[1]] < 1e-9}
	for _, side := range order {
		var slots []int
		for slot := side; slot < bots; slot += n {
			slots = append(slots, slot)
		}
		o.Sides, o.score = append(o.Sides, slots), append(o.score, score[side])
	}
	return o
}

// Text returns the result of two sides in figures: "3½ – ½". That of more sides is "".
func (o *outcome) Text() string {
	if len(o.Sides) != 2 {
		return ""
	}
	return points(o.score[0]) + " – " + points(o.score[1])
}

// points returns wins and halves: "3½".
func points(x float64) string {
	half := int(x*2 + 0.5)
	text := strconv.Itoa(half / 2)
	switch {
	case half%2 == 0:
		return text
	case half == 1:
		return "½"
	}
	return text + "½"
}

// shown returns matches with how they ended.
func (s *Site) shown(ctx context.Context, list []ladder.Match) ([]shownMatch, error) {
	var ids []int64
	for _, m := range list {
		if m.State == ladder.Finished {
			ids = append(ids, m.ID)
		}
	}
	games, err := s.Store.GamesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]shownMatch, len(list))
	for i, m := range list {
		out[i].Match = m
		if len(games[m.ID]) == 0 {
			continue
		}
		v, err := m.Variant()
		if err != nil {
			return nil, err
		}
		out[i].Outcome = outcomeOf(len(m.Bots), v.Sides, games[m.ID])
	}
	return out, nil
}
