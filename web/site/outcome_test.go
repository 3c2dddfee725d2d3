package site

import (
	"testing"

	"github.com/timba-arena/timba/ladder"
)

func TestOutcome(t *testing.T) {
	game := func(ranks ...int) (g ladder.Game) { // by slot
		for slot, rank := range ranks {
			g.Seats = append(g.Seats, ladder.GameSeat{Seat: slot, Slot: slot, Rank: rank})
		}
		return g
	}
	teams := ladder.Game{Seats: []ladder.GameSeat{{Slot: 0, Rank: 3}, {Slot: 1, Rank: 1}, {Slot: 0, Rank: 3}, {Slot: 1, Rank: 1}}}
	partners := game(2, 1, 2, 1)
	for _, test := range []struct {
		name        string
		bots, sides int
		games       []ladder.Game
		text        string
		best        int // slot
		tied        bool
	}{
		{"two bots", 2, 2, []ladder.Game{game(1, 2), game(2, 1), game(2, 1)}, "2 – 1", 1, false},
		{"a draw", 2, 2, []ladder.Game{game(1, 2), game(1, 1)}, "1½ – ½", 0, false},
		{"equal", 2, 2, []ladder.Game{game(1, 2), game(2, 1)}, "1 – 1", 0, true},
		{"three bots", 3, 3, []ladder.Game{game(2, 1, 3), game(2, 3, 1), game(1, 2, 3)}, "1 / 3", 0, false},
		{"two teams of one bot each", 2, 2, []ladder.Game{teams}, "1 – 0", 1, false},
		{"partners", 4, 2, []ladder.Game{partners, partners}, "2 – 0", 1, false},
	} {
		o := outcomeOf(test.bots, test.sides, test.games)
		if o.Text() != test.text || o.Sides[0][0] != test.best || o.Tied != test.tied {
			t.Errorf("%s: %q, %v, tied %v; want %q, slot %d, %v", test.name, o.Text(), o.Sides, o.Tied, test.text, test.best, test.tied)
		}
	}
	if o := outcomeOf(4, 2, []ladder.Game{partners}); len(o.Sides) != 2 || o.Sides[0][1] != 3 {
		t.Errorf("partners are not together: %v", o.Sides)
	}
}
