package commands

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/web/api/wire"
)

// A match of which not all deals count says so.
func TestPrintMatchOfRepeats(t *testing.T) {
	const want = "\n3 of the deals count: the others repeat earlier games of the same versions\n"
	for deals, told := range map[int]bool{3: true, 10: false} {
		m := wire.Match{ID: 1, Rated: true, Deals: 10, Versions: []wire.Ref{{Bot: "a"}, {Bot: "b"}}, Changes: []wire.Change{{Deals: deals}, {Slot: 1, Deals: deals}}}
		var out strings.Builder
		printMatch(&out, matchReport{Match: m})
		if strings.Contains(out.String(), want) != told {
			t.Errorf("with %d deals that count: %s", deals, out.String())
		}
	}
}

// A match tells who won it, alone and in pairs.
func TestRecord(t *testing.T) {
	game := func(ranks ...int) (g wire.Game) {
		for slot, rank := range ranks {
			g.Seats = append(g.Seats, wire.GameSeat{Seat: slot, Slot: slot, Rank: rank})
		}
		return g
	}
	alone := matchReport{Match: wire.Match{Versions: make([]wire.Ref, 2)}, played: []wire.Game{game(1, 2), game(1, 2), game(1, 1), game(2, 1)}}
	teams := matchReport{Match: wire.Match{Versions: make([]wire.Ref, 4), Options: map[string]string{"teams": "yes"}}, played: []wire.Game{game(1, 3, 1, 3), game(1, 1, 1, 1)}}
	for _, x := range []struct {
		match matchReport
		want  [3]int
	}{{alone, [3]int{2, 1, 1}}, {teams, [3]int{1, 1, 0}}} {
		won, drawn, lost := x.match.record(0)
		if got := [3]int{won, drawn, lost}; got != x.want {
			t.Errorf("%v, want %v", got, x.want)
		}
	}
}
