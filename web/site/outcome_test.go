package site

import (
	"slices"
	"testing"

	"github.com/timba-arena/timba/ladder"
)

func TestOutcome(t *testing.T) {
	game := func(ranks ...int) (g ladder.FinishedGame) { // by slot
		for slot, rank := range ranks {
			g.Seats = append(g.Seats, ladder.GameSeat{Seat: slot, Slot: slot, Rank: rank})
		}
		return g
	}
	teams := ladder.FinishedGame{Seats: []ladder.GameSeat{{Slot: 0, Rank: 3}, {Slot: 1, Rank: 1}, {Slot: 0, Rank: 3}, {Slot: 1, Rank: 1}}}
	partners := game(2, 1, 2, 1)
	for _, test := range []struct {
		name        string
		bots, sides int
		games       []ladder.FinishedGame
		text        string
		best        int // slot
		tied        bool
	}{
		{"two bots", 2, 2, []ladder.FinishedGame{game(1, 2), game(2, 1), game(2, 1)}, "2 – 1", 1, false},
		{"a draw", 2, 2, []ladder.FinishedGame{game(1, 2), game(1, 1)}, "1½ – ½", 0, false},
		{"equal", 2, 2, []ladder.FinishedGame{game(1, 2), game(2, 1)}, "1 – 1", 0, true},
		{"three bots", 3, 3, []ladder.FinishedGame{game(2, 1, 3), game(2, 3, 1), game(1, 2, 3)}, "", 0, false},
		{"two teams of one bot each", 2, 2, []ladder.FinishedGame{teams}, "1 – 0", 1, false},
		{"partners", 4, 2, []ladder.FinishedGame{partners, partners}, "2 – 0", 1, false},
	} {
		o := outcomeOf(test.bots, test.sides, test.games)
		if o.Text() != test.text || o.Sides[0][0] != test.best || o.Tied != test.tied {
			t.Errorf("%s: %q, %v, tied %v; want %q, slot %d, %v", test.name, o.Text(), o.Sides, o.Tied, test.text, test.best, test.tied)
		}
	}
	if o := outcomeOf(3, 3, []ladder.FinishedGame{game(2, 1, 3), game(2, 3, 1), game(1, 2, 3)}); o.FirstPlaces != 1 || o.Games != 3 {
		t.Errorf("the best of three is first in %d of %d", o.FirstPlaces, o.Games)
	}
	if o := outcomeOf(4, 2, []ladder.FinishedGame{partners}); len(o.Sides) != 2 || o.Sides[0][1] != 3 {
		t.Errorf("partners are not together: %v", o.Sides)
	}
}

// Games from which a bot was disqualified take one line on the page of the match, and their faults are not
// explained.
func TestLeftOut(t *testing.T) {
	var games []ladder.FinishedGame
	for deal := range 4 {
		for rotation := range 2 {
			g := ladder.FinishedGame{ID: int64(10*deal + rotation), Deal: deal, Rotation: rotation, Seats: []ladder.GameSeat{{Slot: 0}, {Slot: 1}}}
			g.Seats[1].Fault, g.Seats[1].Faults = "exit", 1
			games = append(games, g)
		}
	}
	p := matchPage{shownMatch: shownMatch{Match: ladder.Match{Bots: []string{"good", "bad"}}}}
	markDisqualified(games)
	if p.countDisqualifications(games); len(p.Disqualifications) != 1 || p.Disqualifications[0] != (disqualification{"bad", 4}) {
		t.Errorf("%v are left out, want bad in the four games of deals 2 and 3", p.Disqualifications)
	}
	for _, g := range games {
		if hasFault(g) != (g.Deal < 2) || g.Deal >= 2 && g.Seats[1].Fault != disqualified {
			t.Errorf("deal %d, rotation %d: its fault is %q", g.Deal, g.Rotation, g.Seats[1].Fault)
		}
	}
}

// Equal deals without a move share a row.
func TestJoined(t *testing.T) {
	var rows []dealRow
	for deal, plies := range []int{9, 0, 0, 8, 0} {
		games := []dealGame{{ladder.FinishedGame{Plies: plies}, [][]ladder.GameSeat{{{Rank: 1}}, {{Seat: 1, Rank: 2, Fault: disqualified}}}}}
		rows = append(rows, dealRow{FirstDeal: deal, LastDeal: deal, Games: games})
	}
	var got [][2]int
	for _, row := range joinAlikeDeals(rows) {
		got = append(got, [2]int{row.FirstDeal, row.LastDeal})
	}
	if !slices.Equal(got, [][2]int{{0, 0}, {1, 2}, {3, 3}, {4, 4}}) {
		t.Errorf("%v", got)
	}
}
