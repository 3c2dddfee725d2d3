package tebes

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// TestTebesFromViewForbids plays games with many sideways moves, in which many positions must not come back.
// A state made from a view must forbid them too, also after both sides have moved sideways and back.
func TestTebesFromViewForbids(t *testing.T) {
	barred := 0
	for n := range uint64(40) {
		v := newVariant(Game, nil, Rules{Size: 4 + 2*uint8(n%2), Random: n%4 < 2, Limit: maxLimit})
		r := rules.NewRand(n)
		stream := rules.FastStream(r)
		s := v.Deal(&stream).(*State)
		for s.Turn() >= 0 && s.Ply() < 300 {
			o := rules.Observe(s, s.Turn())
			made := kit.Get[rules.State](t)(v.FromView(o, r))
			if got := rules.Observe(made, o.Turn); string(got.Moves) != string(o.Moves) {
				t.Fatalf("ply %d: the moves %s become %s", o.Ply, o.Moves, got.Moves)
			}
			free := *s
			free.rules.Cycles = true
			for _, m := range missing(&free, s) {
				stillForbids(t, made.(*State), m, &barred)
			}
			s.Apply(sideways(s, r), nil)
		}
	}
	if barred < 1000 {
		t.Errorf("only %d forbidden moves were tried later", barred)
	}
}

// missing returns the legal moves of one state that are not legal in another.
func missing(of, in *State) (moves []rules.Move) {
	for _, m := range of.Legal(nil) {
		if in.Check(m) != nil {
			moves = append(moves, m)
		}
	}
	return moves
}

// sideways returns a random sideways move, if there is one.
func sideways(s *State, r *rules.Rand) rules.Move {
	legal := s.Legal(nil)
	for range 20 {
		m := legal[r.Below(len(legal))]
		if step, _ := s.cells(m); step.start>>3 == step.end>>3 {
			return m
		}
	}
	return legal[0]
}

func reverse(m rules.Move) rules.Move { return m%maxSquares*maxSquares + m/maxSquares }

// stillForbids makes a sideways move of another piece, an answer, then m, and takes the answer back. The
// other piece may not return then: that would bring back the position to which m alone would have led.
func stillForbids(t *testing.T, s *State, m rules.Move, tried *int) {
	t.Helper()
	before := *s
	for _, there := range s.Legal(nil) {
		c := before
		if c.Apply(there, nil); c.irreversiblePly != before.irreversiblePly || c.turn < 0 || there/maxSquares == m/maxSquares {
			continue // not sideways, a capture, or the end of the game
		}
		for _, answer := range c.Legal(nil) {
			d, home := c, reverse(there)
			d.Apply(answer, nil)
			if rules.Play(&d, m, nil) != nil || rules.Play(&d, reverse(answer), nil) != nil || d.irreversiblePly != before.irreversiblePly {
				continue
			}
			if d.Check(home) == nil {
				t.Fatalf("%s may come back by %s", d.MoveText(nil, m), d.MoveText(nil, home))
			}
			*tried++
			return
		}
	}
}
