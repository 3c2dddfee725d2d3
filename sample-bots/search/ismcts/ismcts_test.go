package ismcts

import (
	"slices"
	"testing"
	"time"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/sample-bots/search"
)

// briscaTree is Brisca with random playouts, scored by points alone.
type briscaTree struct{ brisca.State }

func (t *briscaTree) Playout(r *rules.Rand) {
	var space [rules.MaxMoves]rules.Move
	for t.Turn() != rules.Over {
		legal := t.Legal(space[:0])
		t.Apply(legal[r.Below(len(legal))], nil)
	}
}

func (t *briscaTree) Scores(points *[rules.MaxSeats]float32) {
	for seat, p := range t.Table.Points {
		points[seat] = float32(p) / 120
	}
}

// dealt returns a position of Brisca after some random moves, and the seat to move.
func dealt(players uint8, moves int, r *rules.Rand) (*briscaTree, int) {
	t := new(briscaTree)
	stream := rules.FastStream(r)
	t.Deal(brisca.Rules{Players: players, Exchange: true}, &stream)
	for range moves {
		legal := t.Legal(nil)
		t.Apply(legal[r.Below(len(legal))], nil)
	}
	return t, t.Turn()
}

// coin is a game for one seat: it can stop for a certain score, or continue and guess a hidden coin.
type coin struct {
	moves  uint8
	first  rules.Move
	second rules.Move
	hidden rules.Move
	sure   float32
}

func (c *coin) Turn() int {
	if c.moves == 2 || c.moves == 1 && c.first == 0 {
		return rules.Over
	}
	return 0
}

func (c *coin) Legal(dst []rules.Move) []rules.Move { return append(dst, 0, 1) }

func (c *coin) Apply(m rules.Move, _ *rules.Log) {
	if c.moves == 0 {
		c.first = m
	} else {
		c.second = m
	}
	c.moves++
}

func (c *coin) Redeal(_ int, r *rules.Rand) { c.hidden = rules.Move(r.Below(2)) }

func (c *coin) Playout(r *rules.Rand) {
	for c.Turn() != rules.Over {
		c.Apply(rules.Move(r.Below(2)), nil)
	}
}

func (c *coin) Scores(points *[rules.MaxSeats]float32) {
	switch {
	case c.first == 0:
		points[0] = c.sure
	case c.second == c.hidden:
		points[0] = 1
	default:
		points[0] = 0
	}
}

// TestHiddenCoin checks that a seat that cannot see the coin prefers a certain score above one half. A search
// that solved each deal separately would always continue and guess right.
func TestHiddenCoin(t *testing.T) {
	s := New[coin](Options{C: 0.7, Arena: 1 << 16})
	r := rules.NewRand(1)
	for _, c := range []struct {
		sure float32
		want rules.Move
	}{{0.6, 0}, {0.4, 1}} {
		got := s.Search(&coin{sure: c.sure}, 0, search.Budget{Nodes: 20_000}, r)
		if got.Move != c.want {
			t.Errorf("%.1f for sure: %+v, want move %d", c.sure, got, c.want)
		}
		if want := max(0.5, float64(c.sure)); got.Value < want-0.05 || got.Value > want+0.05 {
			t.Errorf("%.1f for sure: value %.3f, want about %.1f", c.sure, got.Value, want)
		}
	}
}

func (c *coin) Guess([]rules.Move) rules.Move { return 1 }

// TestGuess checks that a wrong guess loses weight with more visits, and that a right one saves visits.
func TestGuess(t *testing.T) {
	s := NewGuided[coin](Options{C: 0.7, Arena: 1 << 16})
	r := rules.NewRand(12)
	wrong := s.Search(&coin{sure: 0.6}, 0, search.Budget{Nodes: 20_000}, r)
	if wrong.Move != 0 || wrong.Value < 0.55 {
		t.Errorf("a wrong guess is followed: %+v", wrong)
	}
	alone := New[coin](Options{C: 0.7, Arena: 1 << 16}).Search(&coin{sure: 0.2}, 0, search.Budget{Nodes: 200}, r)
	right := s.Search(&coin{sure: 0.2}, 0, search.Budget{Nodes: 200}, r)
	if right.Move != 1 || right.Visits <= alone.Visits {
		t.Errorf("a right guess is not followed: %+v, without it %+v", right, alone)
	}
}

// TestBounds checks that the tree respects its memory limit, and that a search is the same for the same seed
// and number of iterations, with any number of seats.
func TestBounds(t *testing.T) {
	const arena = 32 << 10
	for _, players := range []uint8{2, 3, 4} {
		position, seat := dealt(players, 7, rules.NewRand(2))
		var first search.Result
		for i := range 2 {
			s := New[briscaTree](Options{C: 0.7, Arena: arena})
			got := s.Search(position, seat, search.Budget{Nodes: 5000}, rules.NewRand(3))
			bytes := len(s.arena.nodes) * nodeSize
			if got.Nodes != 5000 || bytes > arena || s.arena.used != arena/nodeSize*3/4 {
				t.Errorf("%d iterations, %d nodes of a tree in %d bytes", got.Nodes, s.arena.used, bytes)
			}
			if err := position.Check(got.Move); err != nil {
				t.Error(err)
			}
			if i == 0 {
				first = got
			} else if got.Move != first.Move || got.Value != first.Value || got.Visits != first.Visits || !slices.Equal(got.Line, first.Line) {
				t.Errorf("once %+v, then %+v", first, got)
			}
		}
	}
}

// TestInterrupted checks that a search without time ends at once with a legal move.
func TestInterrupted(t *testing.T) {
	position, seat := dealt(2, 4, rules.NewRand(4))
	s := New[briscaTree](Options{C: 0.7, Arena: 1 << 20})
	got := s.Search(position, seat, search.Budget{Deadline: time.Now().Add(-time.Second)}, rules.NewRand(5))
	if err := position.Check(got.Move); err != nil || got.Nodes != 0 {
		t.Errorf("%+v: %v", got, err)
	}
}

// TestVisitsAddUp checks that each visit of a node except the first is a visit of one of its children.
func TestVisitsAddUp(t *testing.T) {
	position, seat := dealt(3, 5, rules.NewRand(6))
	s := New[briscaTree](Options{C: 0.7, Arena: 1 << 20})
	s.Search(position, seat, search.Budget{Nodes: 3000}, rules.NewRand(7))
	sum := uint32(0)
	for _, i := range kids(s, root) {
		n := s.arena.nodes[i]
		sum += n.visits
		if n.chances < n.visits {
			t.Errorf("move %d was chosen %d times and legal %d times", n.move, n.visits, n.chances)
		}
		below := uint32(0)
		for _, k := range kids(s, i) {
			below += s.arena.nodes[k].visits
		}
		if below != n.visits-1 {
			t.Errorf("move %d: %d visits, %d below", n.move, n.visits, below)
		}
	}
	if sum != 3000 {
		t.Errorf("%d visits of 3000 iterations", sum)
	}
}

func kids(s *Searcher[briscaTree, *briscaTree], parent uint32) (list []uint32) {
	for m := range rules.Move(maxMove) {
		if i, _ := s.arena.find(parent, m); i != noNode {
			list = append(list, i)
		}
	}
	return list
}

func TestAllocations(t *testing.T) {
	position, seat := dealt(2, 4, rules.NewRand(8))
	s := New[briscaTree](Options{C: 0.7, Arena: 1 << 20})
	r := rules.NewRand(9)
	s.Search(position, seat, search.Budget{Nodes: 1000}, r)
	if n := testing.AllocsPerRun(3, func() { s.Search(position, seat, search.Budget{Nodes: 1000}, r) }); n > 0 {
		t.Errorf("%v allocations in 1000 iterations", n)
	}
}

func BenchmarkIteration(b *testing.B) {
	position, seat := dealt(2, 4, rules.NewRand(10))
	s := New[briscaTree](Options{C: 0.7, Arena: search.DefaultArena})
	r := rules.NewRand(11)
	b.ReportAllocs()
	b.ResetTimer()
	s.Search(position, seat, search.Budget{Nodes: uint64(b.N)}, r)
}
