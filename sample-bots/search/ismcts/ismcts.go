// Package ismcts searches games with hidden cards by information set Monte Carlo tree search with
// a single observer (Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search",
// IEEE Transactions on Computational Intelligence and AI in Games 4(2), 2012).
//
// One tree stands for all positions that a seat may be in: its nodes are sequences of moves. Each
// iteration deals the hidden cards anew, goes down the tree by the moves that are legal with these
// cards, adds one node, and plays the game to its end. A move that is rarely legal is not held
// back by that: its upper bound counts the iterations in which it could have been chosen.
//
// A game takes part with a type that embeds its state and adds what the search needs:
//
//	type tree struct {
//		brisca.State // has Turn, Legal, Apply and Redeal
//	}
//
//	func (t *tree) Playout(r *rules.Rand)                    { ... } // to the end, by sensible moves
//	func (t *tree) Scores(points *[rules.MaxSeats]float32)   { ... } // 0 to 1 for each seat
//
//	s := ismcts.New[tree](ismcts.Options{C: 0.7, Arena: ismcts.DefaultArena})
//	found := s.Search(&tree{state}, seat, search.Budget{Nodes: 1000}, rand)
//
// To search less than a whole game, such as one round, let Turn return rules.Over where it ends.
package ismcts

import (
	"math"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	// DefaultArena is the size of a tree in bytes unless an option says otherwise.
	DefaultArena = 64 << 20

	clock   = 16      // iterations between two looks at the clock
	maxPath = 256     // moves from the root to a leaf
	maxMove = 1 << 10 // moves are numbers below this
	maxLine = 8       // moves of a result's line
)

// State is a position that random games are played from. S is the concrete type, which is copied
// by assignment.
type State[S any] interface {
	*S
	// Turn returns the seat to move, or rules.Over.
	Turn() int
	// Legal appends the legal moves: at least one unless the game is over.
	Legal([]rules.Move) []rules.Move
	// Apply makes a legal move; the log is nil.
	Apply(rules.Move, *rules.Log)
	// Redeal deals anew all that is hidden from a seat. What the seat sees is unchanged.
	Redeal(seat int, r *rules.Rand)
	// Playout plays to the end.
	Playout(*rules.Rand)
	// Scores sets the score of each seat, 0 to 1, when the game is over.
	Scores(*[rules.MaxSeats]float32)
}

// Options of a search.
type Options struct {
	C     float64 // weight of exploration; 0.7 in the paper
	Arena int     // bytes of the nodes
}

// Result is what a search has found.
type Result struct {
	Move   rules.Move
	Value  float64 // average score of the seat after this move, 0 to 1
	Visits int     // of the move
	Nodes  uint64  // iterations of this search
	Line   []rules.Move
}

// Searcher searches positions of one game. It is not safe for concurrent use.
type Searcher[S any, G State[S]] struct {
	options Options
	meter   search.Meter
	arena   arena
	state   S // of the iteration
	rand    rules.Rand
	scores  [rules.MaxSeats]float32
	path    [maxPath]visit
	moves   [rules.MaxMoves]rules.Move
	line    []rules.Move
}

// visit is a node of the path and the seat whose move led to it.
type visit struct {
	node uint32
	seat uint8
}

// New returns a searcher.
func New[S any, G State[S]](o Options) *Searcher[S, G] {
	return &Searcher[S, G]{options: o, arena: newArena(o.Arena)}
}

// Bytes returns the size of the arena.
func (s *Searcher[S, G]) Bytes() int { return len(s.arena.nodes) * nodeSize }

// Tree returns the number of nodes of the tree.
func (s *Searcher[S, G]) Tree() int { return s.arena.used }

// Search searches the position of a seat, which is to move, until the budget is spent. The
// budget's nodes are iterations. It returns the move of most visits; before the first iteration, a
// random one. When the arena is full, the tree stops growing.
func (s *Searcher[S, G]) Search(g G, seat int, b search.Budget, r *rules.Rand) Result {
	s.rand = *r
	s.meter = search.NewMeter(b, clock)
	s.arena.clear()
	for s.meter.Count() {
		s.iterate(g, seat)
	}
	legal := g.Legal(s.moves[:0])
	result := s.result(legal[s.rand.Below(len(legal))])
	*r = s.rand
	return result
}

// iterate deals the hidden cards, goes down to a node with a move that was not tried yet, tries
// it, plays the game to its end and counts its result on the way.
func (s *Searcher[S, G]) iterate(from G, seat int) {
	s.state = *from
	g := G(&s.state)
	g.Redeal(seat, &s.rand)
	depth, node, grown := 0, root, false
	for !grown && depth < maxPath && g.Turn() != rules.Over {
		mover := g.Turn()
		next, added := s.choose(node, g.Legal(s.moves[:0]))
		if next == none {
			break // the arena is full
		}
		node, grown = next, added
		g.Apply(s.arena.nodes[node].move, nil)
		s.path[depth] = visit{node, uint8(mover)}
		depth++
	}
	if g.Turn() != rules.Over {
		g.Playout(&s.rand)
	}
	g.Scores(&s.scores)
	for _, v := range s.path[:depth] {
		n := &s.arena.nodes[v.node]
		n.visits++
		n.score += float64(s.scores[v.seat%rules.MaxSeats])
	}
}

// choose returns the child of a node to go on with: a new one as long as there are legal moves
// that were not tried, of which each is equally likely, else that of greatest upper bound. It
// returns none if there is neither room for a new one nor another.
func (s *Searcher[S, G]) choose(parent uint32, legal []rules.Move) (kid uint32, added bool) {
	best, top, untried := none, float32(math.Inf(-1)), 0
	c := float32(s.options.C)
	for _, m := range legal {
		i, _ := s.arena.find(parent, m)
		if i == none {
			legal[untried] = m // over a move that is done with
			untried++
			continue
		}
		n := &s.arena.nodes[i]
		n.chances++
		visits := float32(n.visits)
		if v := float32(n.score)/visits + c*sqrt(log(n.chances)/visits); v > top {
			best, top = i, v
		}
	}
	if untried > 0 {
		if kid = s.arena.add(parent, legal[s.rand.Below(untried)]); kid != none {
			return kid, true
		}
	}
	return best, false
}

// result returns the move of most visits, of equals the one of most value, and the line of most
// visits after it.
func (s *Searcher[S, G]) result(random rules.Move) Result {
	best := s.arena.busiest(root)
	if best == none {
		return Result{Move: random, Nodes: s.meter.Nodes()}
	}
	s.line = s.line[:0]
	for node := best; node != none && len(s.line) < maxLine; node = s.arena.busiest(node) {
		if len(s.line) > 0 && s.arena.nodes[node].visits < 2 {
			break // a move tried once is no expectation
		}
		s.line = append(s.line, s.arena.nodes[node].move)
	}
	n := &s.arena.nodes[best]
	return Result{
		Move: n.move, Value: n.score / float64(n.visits), Visits: int(n.visits),
		Nodes: s.meter.Nodes(), Line: s.line,
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
