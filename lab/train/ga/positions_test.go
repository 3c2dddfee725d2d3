//go:build !race || slowrace

package ga

import (
	"math"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/decisions"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// TestPositions compares the values of moves with the exact means over all random ends of games in which two
// players know all cards.
func TestPositions(t *testing.T) {
	d := newBrisca(t, small("brisca2"), 1).workers[0]
	found := 0
	for seed := uint64(1); found < 20; seed++ {
		r := rules.NewRand(seed)
		before := *r
		d.reachDecision(r)
		if d.position.Board().NextDraw < baraja.TableCards {
			continue
		}
		found++
		const playouts = 4000
		j, s := d.valueMoves(d.reachDecision(&before), playouts, false, &before), d.position
		for i, m := range s.Legal(nil) {
			end := s
			end.Apply(m, nil)
			won, points := exact(&end, s.Turn())
			gotWon, gotPoints := float64(j.halfWins[i])/playouts, float64(j.points[i])/playouts
			if math.Abs(gotWon-won) > 0.06 || math.Abs(gotPoints-points) > 1 {
				t.Errorf("seed %d, move %d: %.3f won and %.2f points, want %.3f and %.2f", seed, m, gotWon, gotPoints, won, points)
			}
		}
	}
}

// exact returns two means over all random ends of the game: 1 plus the standing of the seat, and the points of the
// seat.
func exact(s *cards.Position, seat int) (won, points float64) {
	legal := s.Legal(nil)
	if s.Turn() < 0 {
		return 1 + float64(s.Outcome(seat)), float64(s.Board().Points[seat])
	}
	for _, m := range legal {
		next := *s
		next.Apply(m, nil)
		w, p := exact(&next, seat)
		won, points = won+w/float64(len(legal)), points+p/float64(len(legal))
	}
	return won, points
}

// TestReach checks that positions have several legal moves and come from all stages of the game, in every mode.
func TestReach(t *testing.T) {
	for _, m := range cards.Modes() {
		testReach(t, m)
	}
}

func testReach(t *testing.T, m cards.Mode) {
	s, err := newSearch(small(m.String()), 1, nil, newNetSpecies)
	kit.Must(t, err)
	r, tricks := rules.NewRand(5), map[int]bool{}
	for range 500 {
		if legal := s.workers[0].reachDecision(r); len(legal) < 2 {
			t.Fatalf("%s: a position has %d moves", m, len(legal))
		}
		tricks[int(s.workers[0].position.Board().PlayedCount)/m.Players] = true
	}
	if all := baraja.TableCards / m.Players; len(tricks) < all*3/4 {
		t.Errorf("%s: positions are of %d of %d tricks", m, len(tricks), all)
	}
}

// TestTrickValue compares the values of moves by the trick with the rules, for the last seat of a trick: the
// points of the trick if the card wins it, plus the heuristic value.
func TestTrickValue(t *testing.T) {
	d := newBrisca(t, small("brisca2"), 1).workers[0]
	found, won := 0, 0
	for seed := uint64(1); found < 200; seed++ {
		legal := d.reachDecision(rules.NewRand(seed))
		s := d.position
		board := s.Board()
		if board.TrickSize == 0 || s.Options() != (baraja.TableRules{Players: 2}) {
			continue
		}
		found++
		const playouts = 3
		j := d.valueMoves(legal, playouts, true, rules.NewRand(seed))
		var heuristic decisions.Heuristic
		heuristic.SetPosition(&s)
		for i, m := range legal {
			c := baraja.Card(m)
			want := heuristic.Worth(c)
			if baraja.BeatingCards(board.Trumps(), board.Best).Has(c) {
				want += int(board.Pot) + baraja.Value(c)
				won++
			}
			if j.points[i] != int32(playouts*want) || j.halfWins[i] != 0 {
				t.Errorf("seed %d, %v: %d points and %d won, want %d and 0", seed, c, j.points[i], j.halfWins[i], playouts*want)
			}
		}
	}
	if won < 50 {
		t.Errorf("%d moves won their tricks, want more", won)
	}
}
