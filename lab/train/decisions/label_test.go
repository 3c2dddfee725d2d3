package decisions

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// TestRandomGames checks the points of decisions in random games of every mode.
func TestRandomGames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(cards.Modes()).Draw(t, "mode")
		randomGame(t, m)
	})
}

func randomGame(t *rapid.T, m cards.Mode) {
	r := rules.NewRand(rapid.Uint64().Draw(t, "seed"))
	list := m.Rules()
	option := list[r.Below(len(list))]
	pack := [baraja.TableCards]baraja.Card(baraja.Pack40)
	src := rules.FastStream(r)
	rules.Shuffle(&src, pack[:])
	var f Follower
	f.Start(m, option, pack)
	p := &f.Position
	var memory [rules.MaxMoves]rules.Move
	for p.Turn() >= 0 {
		legal := p.Legal(memory[:0])
		f.Step(legal[r.Below(len(legal))])
	}
	checkDecisions(t, m, p, f.Decisions)
}

// checkDecisions checks that the points of the decisions add up to those of the game. It does not check a game that
// was won at once.
func checkDecisions(t *rapid.T, m cards.Mode, p *cards.Position, list []Decision) {
	board := p.Board()
	sum, plays := 0, 0
	rest := map[int8]int16{}
	for _, d := range list {
		before, later := rest[d.Seat]
		if final := side(m, board, int(d.Seat)); d.Rest < 0 || !later && d.Rest != final || later && d.Rest > before {
			t.Fatalf("%v: seat %d has %d points to come, then %d, and %d in the end", m, d.Seat, before, d.Rest, final)
		}
		rest[d.Seat] = d.Rest
		if want := p.Outcome(int(d.Seat)); int(d.Standing) != want {
			t.Fatalf("%v: a standing of %d, not %d", m, d.Standing, want)
		}
		sum += int(max(0, d.Points))
		plays++
	}
	if !board.IsLastTrick() || plays != int(board.PlayedCount) {
		return // won at once, or not every decision is a card of a trick
	}
	var final [2]int // of the winners of each trick
	for seat := range m.Players {
		final[0] += int(board.Points[seat])
	}
	each := 1
	if m.Teams {
		each = 2 // both partners' decisions have the points of a trick
	}
	if hunted := p.Options().Hunt3 && board.Points[1-board.Winner%2] == 0; !hunted && sum != each*final[0] {
		t.Fatalf("%v: the decisions have %d points, the game %d", m, sum, final[0])
	}
}

func side(m cards.Mode, t *baraja.Table, seat int) (points int16) {
	for other := range m.Players {
		if other == seat || m.Teams && other%2 == seat%2 {
			points += t.Points[other]
		}
	}
	return points
}
