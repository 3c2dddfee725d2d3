// Package mcts searches games by Monte Carlo tree search: UCT (Kocsis and Szepesvári, "Bandit Based
// Monte-Carlo Planning", 2006). The tree grows at leaves that have been visited before (Coulom, "Efficient
// Selectivity and Backup Operators in Monte-Carlo Tree Search", 2006).
//
// With Options.K, the selection of moves also uses a heuristic, with a weight beta = K/(K+n) that falls with
// the number n of visits (S. Sales, 2015; the schedule is that of RAVE: Gelly and Silver, 2007). The next
// search reuses the tree if the state is a ReusableState. The memory for nodes is bounded. With more than two
// sides, each maximizes its own points (max^n: Luckhardt and Irani, 1986; in MCTS, Sturtevant, 2008).
package mcts

import (
	"math"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	clockInterval = 16  // number of iterations between two readings of the clock
	maxPath       = 128 // maximum number of moves from the root to a leaf
	maxReusePlies = 4   // maximum number of moves between two searches after which the tree is reused
)

// State is a position of a game without hidden cards. S is the type of the position itself; its pointer implements
// State. An assignment of an S copies the position.
type State[S any] interface {
	*S
	// Turn returns the side to move, a number from 0 to Options.Sides-1, or rules.Over.
	Turn() int
	// Legal appends the legal moves to its argument. Unless the game is over, there is at least one.
	Legal([]rules.Move) []rules.Move
	// Apply makes a legal move. The log is nil.
	Apply(rules.Move, *rules.Log)
	// Playout makes moves until the game is over, for example random ones. The search then asks for the Reward of each
	// side.
	Playout(*rules.Rand)
	// Reward returns what the end of the game is worth for a side, from 0 to 1. It is only called when the game is
	// over.
	Reward(side int) float64
	// Prior estimates the reward of a side at the end, from 0 to 1. It is only called if
	// Options.K is not 0.
	Prior(side int) float32
}

// ReusableState is implemented by a State if a search may reuse the tree of the search before.
type ReusableState interface {
	// Ply returns the number of moves made in the game.
	Ply() int
	// Key returns a hash of everything that determines the rest of the game.
	Key() uint64
}

// Options are the options of a Searcher.
type Options struct {
	C         float64 // weight of exploration; the square root of 2 in UCT
	K         float64 // number of visits at which State.Prior counts half of a node's value; 0 means that it is not used
	Arena     int     // size in bytes of the memory for nodes
	Sides     int     // number of sides; 0 means 2
	Criterion Criterion
}

// Criterion is the rule by which a search selects the move that it returns.
type Criterion uint8

const (
	ByValue  Criterion = iota // highest value, then most visits
	ByVisits                  // most visits, then highest value
	ByBound                   // highest upper confidence bound, by which moves inside the tree are selected too
	// ByBoth selects the move with the highest value if it also has the most visits, the "robust-max child" (Chaslot
	// and others, 2008). The search ends after half of its budget or, if there is no such move then, as soon as there
	// is one. If there is none at the end of the budget, it selects as ByVisits does.
	ByBoth
)

// Searcher searches positions of one game. It is not safe for concurrent use.
type Searcher[S any, G State[S]] struct {
	options   Options
	meter     search.Meter
	arena     arena
	hasRoot   bool
	root      S // position of the root node
	state     S // position in the current iteration
	positions [maxReusePlies + 1]S
	rand      rules.Rand
	path      [maxPath]visit
	moves     [rules.MaxMoves]rules.Move
	line      []rules.Move
}

// visit is a node through which an iteration went, and the side whose move led to the node.
type visit struct {
	node uint32
	side int8
}

// ArenaSize returns a value for Options.Arena that suffices for the given number of iterations. moves is the
// maximum number of moves in a position.
func ArenaSize(iterations, moves int) int { return (1 + (iterations+1)*moves) * nodeSize }

// New returns a searcher with an empty tree.
func New[S any, G State[S]](o Options) *Searcher[S, G] {
	if o.Sides == 0 {
		o.Sides = 2
	}
	return &Searcher[S, G]{options: o, arena: newArena(o.Arena)}
}

// Bytes returns the size of the memory for nodes in bytes.
func (s *Searcher[S, G]) Bytes() int { return len(s.arena.nodes) * nodeSize }

// TreeSize returns the number of nodes in the tree.
func (s *Searcher[S, G]) TreeSize() int { return s.arena.used }

// Forget discards the tree. It should be called before a new game.
func (s *Searcher[S, G]) Forget() { s.hasRoot = false }

// Search searches from g until the budget b is used up. The nodes of the budget are iterations. It returns the move
// that Options.Criterion selects, or a random legal move if there was no iteration. r is the source of random
// numbers.
func (s *Searcher[S, G]) Search(g G, b search.Budget, r *rules.Rand) search.Result {
	s.rand = *r
	first := b
	if s.options.Criterion == ByBoth {
		first = b.Half()
	}
	s.meter = search.NewMeter(first, clockInterval)
	s.setRoot(g)
	for s.meter.Count() {
		s.iterate()
	}
	if s.options.Criterion == ByBoth {
		s.meter.Extend(b)
		for s.childBy(ByValue) != s.childBy(ByVisits) && s.meter.Count() {
			s.iterate()
		}
	}
	*r = s.rand
	return s.result()
}

// setRoot makes g the position of the root. If the tree of the last search contains g, it keeps the nodes below g.
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

// find returns the index of the node whose position is g. It returns false if there is none at most maxReusePlies
// moves after the root.
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

// findBelow searches the subtree of node for a position with the given key, and returns the index of its node, or
// false. depth is the depth of node below the root, and ahead that of the wanted node. s.positions[depth] must be
// the position of node. findBelow skips nodes without children, because they hold nothing to reuse.
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

// iterate makes one iteration. It descends to a leaf and, if the leaf was visited before, adds children to it and
// goes on to one of them. It then plays a random game from there and adds the result to all nodes on the path.
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
	var rewards [rules.MaxSeats]float64
	for side := range s.options.Sides {
		rewards[side] = g.Reward(side)
	}
	for _, v := range s.path[:depth] {
		n := &s.arena.nodes[v.node]
		n.visits++
		n.rewards += rewards[v.side]
	}
}

// expand adds the children of a node, whose position must be s.state. It returns false if the memory is full.
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

// selectChild returns the index of the child of node with the greatest upper confidence bound. If Options.K is 0
// and some children have no visits, it returns a random one of them.
func (s *Searcher[S, G]) selectChild(node uint32) uint32 {
	n := &s.arena.nodes[node]
	kids := s.arena.nodes[n.first : n.first+uint32(n.kids)]
	log := float32(math.Log(float64(max(n.visits, 1))))
	best, top, c, k := 0, float32(-1), float32(s.options.C), float32(s.options.K)
	start := s.rand.Below(len(kids)) // the first of equal children from here on is selected
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

func (s *Searcher[S, G]) result() search.Result {
	best := s.bestChild()
	s.line = append(s.line[:0], s.arena.nodes[best].move)
	for node := best; len(s.line) < 8; {
		next, visits := uint32(0), uint32(1) // a line ends before a move that was tried once
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

// bestChild returns the index of the root's child whose move the search returns. Options.Criterion selects the child.
// For ByBoth it is the child with the most visits. A search with ByBoth goes on until this child also has the highest
// value, or until its budget is used up.
func (s *Searcher[S, G]) bestChild() uint32 {
	switch s.options.Criterion {
	case ByBound:
		return s.selectChild(0)
	case ByValue:
		return s.childBy(ByValue)
	}
	return s.childBy(ByVisits)
}

// childBy returns the index of a node: the child of the root with the highest value if c is ByValue, and the one with
// the most visits if c is ByVisits. If several are equal, the other of the two numbers decides. Children without visits
// do not count. If no child has visits, childBy returns a random one.
func (s *Searcher[S, G]) childBy(c Criterion) uint32 {
	n := s.arena.nodes[0]
	best, top, visits := n.first, float32(-1), uint32(0)
	for kid := n.first; kid < n.first+uint32(n.kids); kid++ {
		k := &s.arena.nodes[kid]
		if k.visits == 0 {
			continue
		}
		v := k.value(float32(s.options.K))
		better := v > top || v == top && k.visits > visits
		if c == ByVisits {
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
