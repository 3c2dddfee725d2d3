package tebes

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// Where pieces go to and fro, positions that may not come back are many. The
// state made from a view forbids them as well, and still does when both sides have
// moved to and fro once more.
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

// missing returns the legal moves of one state that are not those of another.
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

// stillForbids goes on by sideways moves of two other pieces, and wants the
// position that the move would bring back to be forbidden when they have come back.
func stillForbids(t *testing.T, s *State, m rules.Move, tried *int) {
	t.Helper()
	before := *s
	for _, there := range s.Legal(nil) {
		c := before
		if c.Apply(there, nil); c.irreversiblePly != before.irreversiblePly || c.turn < 0 || there/maxSquares == m/maxSquares {
			continue // not sideways, a capture, or the end
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
