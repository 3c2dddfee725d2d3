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
//	s := ismcts.New[tree](ismcts.Options{C: 0.7, Arena: search.DefaultArena})
//	found := s.Search(&tree{state}, seat, search.Budget{Nodes: 1000}, rand)
//
// A type that guesses which move is good, too, is searched by NewGuided: the guess has more weight
// as long as a node has few visits (Rosin, "Multi-armed Bandits with Episode Context", 2011, as in
// Silver and others, "Mastering the Game of Go with Deep Neural Networks and Tree Search", 2016).
// With many hidden cards most nodes have few, and without a guess the others' moves there are
// nearly random.
//
// To search less than a whole game, such as one round, let Turn return rules.Over where it ends.
package ismcts

import (
	"math"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	clockInterval = 16      // iterations between two looks at the clock
	maxPath       = 256     // moves from the root to a leaf
	maxMove       = 1 << 10 // moves are numbers below this
	maxLine       = 8       // moves of a result's line
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

// GuidedState is a State that guesses.
type GuidedState[S any] interface {
	State[S]
	// Guess returns one of the legal moves: the one that a sensible player makes with the
	// cards of the seat to move.
	Guess(legal []rules.Move) rules.Move
}

// Options of a search.
type Options struct {
	C     float64 // weight of exploration; 0.7 in the paper
	Arena int     // bytes of the nodes
}

// Searcher searches positions of one game. It is not safe for concurrent use.
type Searcher[S any, G State[S]] struct {
	options  Options
	meter    search.Meter
	guess    func(G, []rules.Move) rules.Move // nil for none
	arena    arena
	state    S // of the iteration
	rand     rules.Rand
	scores   [rules.MaxSeats]float32
	path     [maxPath]visit
	moves    [rules.MaxMoves]rules.Move
	children [rules.MaxMoves]uint32 // of the children of a node
	line     []rules.Move
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

// NewGuided returns a searcher that follows guesses.
func NewGuided[S any, G GuidedState[S]](o Options) *Searcher[S, G] {
	s := New[S, G](o)
	s.guess = func(g G, legal []rules.Move) rules.Move { return g.Guess(legal) }
	return s
}

// Search searches the position of a seat, which is to move, until the budget is spent. The
// budget's nodes are iterations. It returns the move of most visits; before the first iteration, a
// random one. When the arena is full, the tree stops growing.
func (s *Searcher[S, G]) Search(g G, seat int, b search.Budget, r *rules.Rand) search.Result {
	s.rand = *r
	s.meter = search.NewMeter(b, clockInterval)
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
		next, added := s.selectChild(g, node)
		if next == noNode {
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

// selectChild returns the child of a node to go on with, as choose or follow does.
func (s *Searcher[S, G]) selectChild(g G, node uint32) (kid uint32, added bool) {
	legal := g.Legal(s.moves[:0])
	if s.guess == nil || len(legal) == 1 {
		return s.selectByBound(node, legal)
	}
	return s.selectByGuess(node, legal, s.guess(g, legal))
}

// guessPrior is the prior probability of a guess; the other moves share the rest.
const guessPrior = 0.6

// selectByGuess returns the child of greatest value plus C x prior x sqrt(all visits) / (1 + visits), which
// is added if it does not exist; one without visits has the value of all. It returns none if there
// is no room.
func (s *Searcher[S, G]) selectByGuess(parent uint32, legal []rules.Move, guess rules.Move) (kid uint32, added bool) {
	best, top, move, value := noNode, float32(math.Inf(-1)), legal[0], float32(0.5)
	other := (1 - float32(guessPrior)) / float32(len(legal)-1)
	score, visits := 0.0, uint32(0)
	for i, m := range legal {
		s.children[i], _ = s.arena.find(parent, m)
		if s.children[i] != noNode {
			n := &s.arena.nodes[s.children[i]]
			score += n.score
			visits += n.visits
		}
	}
	if visits > 0 {
		value = float32(score / float64(visits))
	}
	explore := float32(s.options.C) * sqrt(float32(visits+1))
	for i, m := range legal {
		prior, mean, seen := other, value, float32(0)
		if m == guess {
			prior = guessPrior
		}
		if s.children[i] != noNode {
			n := &s.arena.nodes[s.children[i]]
			n.chances++
			mean, seen = float32(n.score/float64(n.visits)), float32(n.visits)
		}
		if v := mean + explore*prior/(1+seen); v > top {
			best, top, move = s.children[i], v, m
		}
	}
	if best == noNode {
		if best = s.arena.add(parent, move); best != noNode {
			return best, true
		}
		return s.selectByBound(parent, legal)
	}
	return best, false
}

// selectByBound returns the child of a node to go on with: a new one as long as there are legal moves
// that were not tried, of which each is equally likely, else that of greatest upper bound. It
// returns none if there is neither room for a new one nor another.
func (s *Searcher[S, G]) selectByBound(parent uint32, legal []rules.Move) (kid uint32, added bool) {
	best, top, untried := noNode, float32(math.Inf(-1)), 0
	c := float32(s.options.C)
	for _, m := range legal {
		i, _ := s.arena.find(parent, m)
		if i == noNode {
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
		if kid = s.arena.add(parent, legal[s.rand.Below(untried)]); kid != noNode {
			return kid, true
		}
	}
	return best, false
}

// result returns the move of most visits, of equals the one of most value, and the line of most
// visits after it.
func (s *Searcher[S, G]) result(random rules.Move) search.Result {
	best := s.arena.mostVisited(root)
	if best == noNode {
		return search.Result{Move: random, Nodes: s.meter.Nodes()}
	}
	s.line = s.line[:0]
	for node := best; node != noNode && len(s.line) < maxLine; node = s.arena.mostVisited(node) {
		if len(s.line) > 0 && s.arena.nodes[node].visits < 2 {
			break // a move tried once is no expectation
		}
		s.line = append(s.line, s.arena.nodes[node].move)
	}
	n := &s.arena.nodes[best]
	return search.Result{
		Move: n.move, Value: n.score / float64(n.visits), Visits: int(n.visits),
		Nodes: s.meter.Nodes(), Line: s.line,
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
