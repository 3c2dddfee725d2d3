package house

import (
	"testing"
	"time"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/alphabeta"
)

// minimax returns the score of a search to the given depth, for the side to move. It searches all moves.
func minimax[P any, G alphabeta.Position[P]](g G, depth, ply int) int32 {
	if depth == 0 {
		return g.Value()
	}
	side, best := g.Turn(), int32(-alphabeta.Win)
	for _, m := range g.Legal(nil) {
		g.Make(m)
		var v int32
		switch turn := g.Turn(); {
		case turn == rules.Over && g.Winner() == side:
			v = alphabeta.Win - int32(ply+1)
		case turn == rules.Over && g.Winner() == 1-side:
			v = int32(ply+1) - alphabeta.Win
		case turn == rules.Over:
		case turn == side:
			v = minimax[P](g, depth, ply+1)
		default:
			v = -minimax[P](g, depth-1, ply+1)
		}
		g.Unmake()
		best = max(best, v)
	}
	return best
}

// after returns the score of a move, for the side that makes it.
func after[P any, G alphabeta.Position[P]](g G, m rules.Move, depth int) (v int32) {
	side := g.Turn()
	g.Make(m)
	switch turn := g.Turn(); {
	case turn == rules.Over && g.Winner() == side:
		v = alphabeta.Win - 1
	case turn == rules.Over && g.Winner() == 1-side:
		v = 1 - alphabeta.Win
	case turn == rules.Over:
	case turn == side:
		v = minimax[P](g, depth, 1)
	default:
		v = -minimax[P](g, depth-1, 1)
	}
	g.Unmake()
	return v
}

// randomTebes returns a position after random moves, or nil if the game ends before.
func randomTebes(r *rules.Rand, variant tebes.Rules, maxMoves int) *tebesPosition {
	var p tebesPosition
	src := rules.FastStream(r)
	p.state.Deal(variant, &src)
	for range r.Below(maxMoves) {
		legal := p.state.Legal(nil)
		if len(legal) == 0 {
			return nil
		}
		p.state.Apply(legal[r.Below(len(legal))], nil)
	}
	if p.state.Turn() == rules.Over {
		return nil
	}
	p.eval = newTebesEval(1+r.Below(2), p.state.Turn(), championTebes, &p.state)
	return &p
}

// TestAlphaBetaIsMinimaxInTebes checks that alpha-beta finds the score of minimax and a move that has it, on
// random positions of both boards: without a table, with one, with one that overflows, and by each Method.
func TestAlphaBetaIsMinimaxInTebes(t *testing.T) {
	t.Parallel()
	alphaBetaIsMinimax(t, 100)
}

func alphaBetaIsMinimax(t *testing.T, positions int) {
	r := rules.NewRand(1)
	searchers := []*alphabeta.Searcher[tebesPosition, *tebesPosition]{
		alphabeta.New[tebesPosition](alphabeta.Options{}),
		alphabeta.New[tebesPosition](alphabeta.Options{Table: 1 << 20}),
		alphabeta.New[tebesPosition](alphabeta.Options{Table: 256}),
		alphabeta.New[tebesPosition](alphabeta.Options{Method: alphabeta.Plain}),
		alphabeta.New[tebesPosition](alphabeta.Options{Method: alphabeta.Exhaustive}),
	}
	extras, wins := 0, 0
	nodes := make([]uint64, len(searchers))
	for n := 0; n < positions; {
		variant := tebes.Rules{Size: 4, Random: r.Below(2) == 0, Cycles: true, Limit: uint16(10 + r.Below(60))}
		depth := 1 + r.Below(4)
		if n%10 == 0 {
			variant.Size, depth = 6, 1+r.Below(3)
		}
		p := randomTebes(r, variant, 30)
		if p == nil {
			continue
		}
		n++
		before := p.state
		want := minimax(p, depth, 0)
		if want > alphabeta.Win/2 {
			wins++
		}
		for i, s := range searchers {
			s.Forget()
			got := s.Search(p, depth, search.Budget{}, r)
			nodes[i] += got.Nodes
			if got.Score != want {
				t.Fatalf("position %d, searcher %d, depth %d: got %d, want %d\n%s", n, i, depth, got.Score, want, p.state.View(nil, 0))
			}
			if v := after(p, got.Move, depth); v != want {
				t.Fatalf("position %d, searcher %d, depth %d: the move is worth %d, want %d", n, i, depth, v, want)
			}
			for _, m := range got.Line {
				if err := p.state.Check(m); err != nil {
					t.Fatalf("position %d, searcher %d: the line has an illegal move: %v", n, i, err)
				}
				p.Make(m)
			}
			for range got.Line {
				p.Unmake()
			}
			if p.state != before {
				t.Fatal("a search changes the position")
			}
		}
		for _, m := range p.Legal(nil) {
			if p.Make(m); p.Turn() == before.Turn() {
				extras++
			}
			p.Unmake()
		}
	}
	if nodes[0] >= nodes[3] || nodes[3] >= nodes[4] {
		t.Errorf("%d nodes with sorted moves, %d in their order, %d without pruning", nodes[0], nodes[3], nodes[4])
	}
	if extras < positions/20 || wins < positions/20 {
		t.Errorf("%d extra moves and %d wins among %d positions: the test sees too little", extras, wins, positions)
	}
}

func TestAlphaBetaIsMinimaxInTeeko(t *testing.T) {
	r := rules.NewRand(2)
	s := alphabeta.New[teekoPosition](alphabeta.Options{Table: 1 << 20})
	var p teekoPosition
	for n := range 200 {
		src := rules.FastStream(r)
		p.states[0].Deal(teeko.Rules{Drop: r.Below(2) == 0, Advanced: r.Below(2) == 0, Limit: 20}, &src)
		for range r.Below(12) {
			if p.Turn() != rules.Over {
				legal := p.Legal(nil)
				p.states[0].Apply(legal[r.Below(len(legal))], nil)
			}
		}
		if p.Turn() == rules.Over {
			continue
		}
		depth := 1 + r.Below(3)
		s.Forget()
		if got, want := s.Search(&p, depth, search.Budget{}, r).Score, minimax(&p, depth, 0); got != want {
			t.Fatalf("position %d, depth %d: got %d, want %d", n, depth, got, want)
		}
	}
}

// TestAlphaBetaTies checks that ties are broken at random: if squares are worth nothing, most first moves of
// Tebes are equal, and each must be played.
func TestAlphaBetaTies(t *testing.T) {
	r := rules.NewRand(3)
	p := randomTebes(r, tebes.Rules{Size: 6, Limit: 400}, 1)
	p.eval.heuristic, p.eval.weights = 1, tebesWeights{}
	s := alphabeta.New[tebesPosition](alphabeta.Options{})
	best := map[rules.Move]bool{}
	top := minimax(p, 2, 0)
	for _, m := range p.Legal(nil) {
		if after(p, m, 2) == top {
			best[m] = true
		}
	}
	seen := map[rules.Move]int{}
	for range 100 * len(best) {
		seen[s.Search(p, 2, search.Budget{}, r).Move]++
	}
	for m := range best {
		if seen[m] < 50 || seen[m] > 200 {
			t.Errorf("%d of %d equal moves is played %d times, want about 100", m, len(best), seen[m])
		}
	}
	if len(best) < 2 || len(seen) != len(best) {
		t.Errorf("moves played %v, best %v", seen, best)
	}
}

// TestSearchBounds checks that a search is the same for the same seed and number of nodes, and respects the
// limits of nodes and of the table.
func TestSearchBounds(t *testing.T) {
	p := randomTebes(rules.NewRand(4), tebes.Rules{Size: 6, Limit: 400}, 10)
	var first alphabeta.Result
	for i := range 2 {
		s := alphabeta.New[tebesPosition](alphabeta.Options{Table: 1 << 20, UseDeeperEntries: true})
		if s.Bytes() > 1<<20 || s.Bytes() <= 1<<19 {
			t.Errorf("a table of 1 MiB has %d bytes", s.Bytes())
		}
		got := s.Search(p, alphabeta.MaxDepth, search.Budget{Nodes: 50_000}, rules.NewRand(9))
		got.Line = append([]rules.Move(nil), got.Line...)
		if got.Nodes != 50_000 {
			t.Errorf("%d nodes, want 50000", got.Nodes)
		}
		if i == 0 {
			first = got
		} else if got.Move != first.Move || got.Score != first.Score || got.Depth != first.Depth || len(got.Line) != len(first.Line) {
			t.Errorf("once %+v, then %+v", first, got)
		}
	}
	s := alphabeta.New[tebesPosition](alphabeta.Options{})
	late := s.Search(p, alphabeta.MaxDepth, search.Budget{Deadline: time.Now().Add(-time.Second)}, rules.NewRand(9))
	if late.Nodes != 0 || p.state.Check(late.Move) != nil {
		t.Errorf("without time: %+v", late)
	}
}

// TestTebesMake checks that Unmake reverses Make, and that different positions have different keys.
func TestTebesMake(t *testing.T) {
	r := rules.NewRand(5)
	keys := map[uint64]string{}
	for range 300 {
		p := randomTebes(r, tebes.Rules{Size: 6, Limit: 400}, 60)
		if p == nil {
			continue
		}
		before, copied := p.state, p.state
		for _, m := range p.Legal(nil) {
			copied = before
			copied.Apply(m, nil)
			p.Make(m)
			if p.state != copied {
				t.Fatal("Make differs from Apply")
			}
			view := string(copied.View(nil, 0))
			if other, ok := keys[copied.Key()]; ok && other[:len(other)-9] != view[:len(view)-9] {
				t.Fatalf("one key: %s\n%s", other, view)
			}
			keys[copied.Key()] = view
			p.Unmake()
			if p.state != before {
				t.Fatal("Unmake does not restore")
			}
		}
	}
}
