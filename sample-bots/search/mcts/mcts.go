// Package mcts searches games by Monte Carlo tree search: UCT (Kocsis and Szepesvári, "Bandit
// Based Monte-Carlo Planning", 2006), whose tree grows at leaves that have been visited before
// (Coulom, "Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search", 2006).
//
// With Options.K it mixes a heuristic into the choice with a weight beta = K/(K+n) that falls with
// the visits (M. Sales, 2015; the schedule is that of RAVE: Gelly and Silver, 2007). The tree is
// kept from one search to the next where the state can tell positions apart (Kept), and its nodes
// have a bounded number of bytes. With more than two sides each maximises its own points (max^n:
// Luckhardt and Irani, 1986; in MCTS, Sturtevant, 2008).
package mcts

import (
	"math"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	clockInterval = 16  // iterations between two looks at the clock
	maxPath       = 128 // moves from the root to a leaf
	maxReusePlies = 4   // moves between two searches, over which the tree is kept
)

// State is a position that random games are played from. S is the concrete type, which is copied
// by assignment.
type State[S any] interface {
	*S
	// Turn returns the side to move, below Options.Sides, or rules.Over.
	Turn() int
	// Legal appends the legal moves: at least one unless the game is over.
	Legal([]rules.Move) []rules.Move
	// Apply makes a legal move; the log is nil.
	Apply(rules.Move, *rules.Log)
	// Playout plays to the end.
	Playout(*rules.Rand)
	// HalfPoints returns the half points of a side, 0 to 2, when the game is over.
	HalfPoints(side int) int
	// Prior estimates the position for a side, 0 to 1. It is called with Options.K alone.
	Prior(side int) float32
}

// ReusableState is a State whose tree is kept from one search to the next.
type ReusableState interface {
	// Ply returns the number of moves made.
	Ply() int
	// Key returns a hash of all that decides the rest of the game.
	Key() uint64
}

// Options of a search.
type Options struct {
	C         float64 // weight of exploration; sqrt 2 in UCT
	K         float64 // visits after which a heuristic counts half; 0 for no heuristic
	Arena     int     // bytes of the nodes
	Sides     int     // of the game; 0 for 2
	Criterion Criterion
}

// Criterion is which move a search returns.
type Criterion uint8

const (
	ByValue  Criterion = iota // of most value, of equals the one of most visits
	ByVisits                  // of most visits, of equals the one of most value
	ByBound                   // of the greatest upper bound, as inside the tree: exploration counts
)

// Searcher searches positions of one game. It is not safe for concurrent use.
type Searcher[S any, G State[S]] struct {
	options   Options
	meter     search.Meter
	arena     arena
	hasRoot   bool
	root      S // the position of the first node
	state     S // of the iteration
	positions [maxReusePlies + 1]S
	rand      rules.Rand
	path      [maxPath]visit
	moves     [rules.MaxMoves]rules.Move
	line      []rules.Move
}

// visit is a node of the path and the side whose move led to it.
type visit struct {
	node uint32
	side int8
}

// ArenaFor returns the bytes that so many iterations fill at most, where a position has at most so
// many moves.
func ArenaFor(iterations, moves int) int { return (1 + (iterations+1)*moves) * nodeSize }

// New returns a searcher.
func New[S any, G State[S]](o Options) *Searcher[S, G] {
	if o.Sides == 0 {
		o.Sides = 2
	}
	return &Searcher[S, G]{options: o, arena: newArena(o.Arena)}
}

// Bytes returns the size of the arena.
func (s *Searcher[S, G]) Bytes() int { return len(s.arena.nodes) * nodeSize }

// TreeSize returns the number of nodes of the tree.
func (s *Searcher[S, G]) TreeSize() int { return s.arena.used }

// Forget forgets the tree, as before a new game.
func (s *Searcher[S, G]) Forget() { s.hasRoot = false }

// Search searches until the budget is spent, with random moves from r. The budget's nodes are
// iterations. It returns the child that Options.Best says; before the first iteration, a random move.
func (s *Searcher[S, G]) Search(g G, b search.Budget, r *rules.Rand) search.Result {
	s.rand = *r
	s.meter = search.NewMeter(b, clockInterval)
	s.setRoot(g)
	for s.meter.Count() {
		s.iterate()
	}
	*r = s.rand
	return s.result()
}

// setRoot makes a position the root: with its subtree if the tree has it.
func (s *Searcher[S, G]) setRoot(g G) {
	legal := g.Legal(s.moves[:0])
	if node, ok := s.find(g); ok && s.arena.hasMoves(node, legal) {
		s.arena.keepSubtree(node)
	} else {
		s.arena.clear()
	}
	s.root, s.hasRoot = *g, true
	if s.arena.nodes[0].kids == 0 {
		s.state = *g
		s.expand(0)
	}
}

// find returns the node of a position that came about since the last search.
func (s *Searcher[S, G]) find(g G) (uint32, bool) {
	now, ok := any(g).(ReusableState)
	if !ok || !s.hasRoot {
		return 0, false
	}
	ahead := now.Ply() - any(G(&s.root)).(ReusableState).Ply()
	if ahead < 0 || ahead > maxReusePlies {
		return 0, false
	}
	s.positions[0] = s.root
	return s.findBelow(0, 0, ahead, now.Key())
}

// findBelow returns the node at depth ahead below a node at a depth, whose position is in s.steps, if
// its position has a key. Nodes without children have nothing worth keeping.
func (s *Searcher[S, G]) findBelow(node uint32, depth, ahead int, key uint64) (uint32, bool) {
	at := G(&s.positions[depth])
	if depth == ahead {
		return node, any(at).(ReusableState).Key() == key
	}
	n := s.arena.nodes[node]
	if at.Turn() == rules.Over {
		return 0, false
	}
	for kid := n.first; kid < n.first+uint32(n.kids); kid++ {
		if s.arena.nodes[kid].kids == 0 {
			continue
		}
		s.positions[depth+1] = s.positions[depth]
		G(&s.positions[depth+1]).Apply(s.arena.nodes[kid].move, nil)
		if found, ok := s.findBelow(kid, depth+1, ahead, key); ok {
			return found, true
		}
	}
	return 0, false
}

// iterate goes down to a leaf, grows it if it has been visited before, plays a random game from
// there and counts its result on the way.
func (s *Searcher[S, G]) iterate() {
	s.state = s.root
	g := G(&s.state)
	depth, node := 1, uint32(0)
	s.path[0] = visit{0, 0}
	for g.Turn() != rules.Over && depth < maxPath {
		n := &s.arena.nodes[node]
		if n.kids == 0 && (n.visits == 0 || !s.expand(node)) {
			break
		}
		side := g.Turn()
		node = s.selectChild(node)
		g.Apply(s.arena.nodes[node].move, nil)
		s.path[depth] = visit{node, int8(side)}
		depth++
	}
	g.Playout(&s.rand)
	var halves [rules.MaxSeats]uint32
	for side := range s.options.Sides {
		halves[side] = uint32(g.HalfPoints(side))
	}
	for _, v := range s.path[:depth] {
		n := &s.arena.nodes[v.node]
		n.visits++
		n.halfPoints += halves[v.side]
	}
}

// expand gives a node of the position s.state its children. It returns false if there is no room.
func (s *Searcher[S, G]) expand(node uint32) bool {
	g := G(&s.state)
	moves := g.Legal(s.moves[:0])
	first, ok := s.arena.addChildren(node, moves)
	if !ok || s.options.K == 0 {
		return ok
	}
	side, before := g.Turn(), s.state
	for i, m := range moves {
		g.Apply(m, nil)
		s.arena.nodes[first+uint32(i)].prior = g.Prior(side)
		s.state = before
	}
	return true
}

// selectChild returns the child of greatest upper bound. Without a heuristic those that have not been
// visited come first, in random order.
func (s *Searcher[S, G]) selectChild(node uint32) uint32 {
	n := &s.arena.nodes[node]
	kids := s.arena.nodes[n.first : n.first+uint32(n.kids)]
	log := float32(math.Log(float64(max(n.visits, 1))))
	best, top, c, k := 0, float32(-1), float32(s.options.C), float32(s.options.K)
	start := s.rand.Below(len(kids)) // ties go to the first from here on
	for j := range kids {
		i := start + j
		if i >= len(kids) {
			i -= len(kids)
		}
		kid := &kids[i]
		visits := float32(kid.visits)
		var value float32
		switch {
		case kid.visits > 0:
			value = kid.value(k) + c*sqrt(log/visits)
		case k > 0:
			value = kid.prior
		default:
			return n.first + uint32(i)
		}
		if value > top {
			best, top = i, value
		}
	}
	return n.first + uint32(best)
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// result returns the best child and the line of most visits after it.
func (s *Searcher[S, G]) result() search.Result {
	best := s.bestChild()
	s.line = append(s.line[:0], s.arena.nodes[best].move)
	for node := best; len(s.line) < 8; {
		next, visits := uint32(0), uint32(1) // a move tried once is no expectation
		for kid := s.arena.nodes[node].first; kid < s.arena.nodes[node].first+uint32(s.arena.nodes[node].kids); kid++ {
			if v := s.arena.nodes[kid].visits; v > visits {
				next, visits = kid, v
			}
		}
		if next == 0 {
			break
		}
		node = next
		s.line = append(s.line, s.arena.nodes[node].move)
	}
	k, value := &s.arena.nodes[best], 0.0
	if k.visits > 0 {
		value = float64(k.value(float32(s.options.K)))
	}
	return search.Result{Move: k.move, Value: value, Visits: int(k.visits), Nodes: s.meter.Nodes(), Line: s.line}
}

// bestChild returns the child of the root that Options.Best says. A child that has not been visited is
// not the best, unless none has or its upper bound is.
func (s *Searcher[S, G]) bestChild() uint32 {
	n := s.arena.nodes[0]
	if s.options.Criterion == ByBound {
		return s.selectChild(0)
	}
	best, top, visits := n.first, float32(-1), uint32(0)
	for kid := n.first; kid < n.first+uint32(n.kids); kid++ {
		k := &s.arena.nodes[kid]
		if k.visits == 0 {
			continue
		}
		v := k.value(float32(s.options.K))
		better := v > top || v == top && k.visits > visits
		if s.options.Criterion == ByVisits {
			better = k.visits > visits || k.visits == visits && v > top
		}
		if better {
			best, top, visits = kid, v, k.visits
		}
	}
	if visits == 0 {
		best += uint32(s.rand.Below(int(n.kids)))
	}
	return best
}
