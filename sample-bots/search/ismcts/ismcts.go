// Package ismcts searches games with hidden cards by information set Monte Carlo tree search with
// a single observer (Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search",
// IEEE Transactions on Computational Intelligence and AI in Games 4(2), 2012).
//
// A node of the tree is a sequence of moves. One tree represents all positions that are possible for what the
// observing seat knows. Each iteration deals the hidden cards again, descends the tree by moves that are legal with
// these cards, adds one node, and plays the game to its end. The upper bound of a move counts only the iterations
// in which the move was legal, so that rarely legal moves are not at a disadvantage.
//
// A game provides a type that embeds its state and adds two methods:
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
// If the type can also guess a good move, NewGuided returns a searcher that uses the guess as a prior. Its weight
// decreases with the number of visits (Rosin, "Multi-armed Bandits with Episode Context", 2011, as in Silver and
// others, "Mastering the Game of Go with Deep Neural Networks and Tree Search", 2016). This helps with many hidden
// cards: most nodes then have few visits, and without guesses the moves of the other seats are nearly random.
//
// To search only a part of a game, such as one round, let Turn return rules.Over at its end.
package ismcts

import (
	"math"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	clockInterval = 16      // number of iterations between two readings of the clock
	maxPath       = 256     // maximum number of moves from the root to a leaf; Playout makes those after it
	maxMove       = 1 << 10 // all moves must be less than this number; others are never returned
	maxLine       = 8       // maximum number of moves in the line of a result
)

// State is a position of a game with hidden cards. S is the type of the position itself; its pointer implements
// State. An assignment of an S copies the position.
type State[S any] interface {
	*S
	// Turn returns the seat to move, or rules.Over.
	Turn() int
	// Legal appends the legal moves to its argument. Unless the game is over, there is at least one.
	Legal([]rules.Move) []rules.Move
	// Apply makes a legal move. The search always passes a nil log.
	Apply(rules.Move, *rules.Log)
	// Redeal deals all cards that are hidden from a seat at random. What the seat sees does not change.
	Redeal(seat int, r *rules.Rand)
	// Playout plays the game to its end by random or sensible moves.
	Playout(*rules.Rand)
	// Scores sets the score of each seat, from 0 to 1. It is only called when the game is over.
	Scores(*[rules.MaxSeats]float32)
}

// GuidedState is a State that can guess a good move without a search.
type GuidedState[S any] interface {
	State[S]
	// Guess returns the legal move that a sensible player would make. It may use the cards of the seat to move. It
	// is not called if only one move is legal.
	Guess(legal []rules.Move) rules.Move
}

// Options are the options of a Searcher.
type Options struct {
	C     float64 // weight of exploration; 0.7 in the paper, for New; NewGuided uses it in another formula
	Arena int     // size in bytes of the memory for nodes
}

// Searcher searches positions of one game. It reuses its memory from search to search. It is not safe for
// concurrent use.
type Searcher[S any, G State[S]] struct {
	options  Options
	meter    search.Meter
	guess    func(G, []rules.Move) rules.Move // nil if there are no guesses
	arena    arena
	state    S // position in the current iteration
	rand     rules.Rand
	scores   [rules.MaxSeats]float32
	path     [maxPath]visit
	moves    [rules.MaxMoves]rules.Move
	children [rules.MaxMoves]uint32 // by index of the legal move: child of the current node
	line     []rules.Move
}

// visit is a node through which an iteration went, and the seat whose move led to the node.
type visit struct {
	node uint32
	seat uint8
}

// New returns a searcher that selects moves only by upper confidence bounds.
func New[S any, G State[S]](o Options) *Searcher[S, G] {
	return &Searcher[S, G]{options: o, arena: newArena(o.Arena)}
}

// NewGuided returns a searcher that also uses the guesses of the state, as prior probabilities of moves.
func NewGuided[S any, G GuidedState[S]](o Options) *Searcher[S, G] {
	s := New[S, G](o)
	s.guess = func(g G, legal []rules.Move) rules.Move { return g.Guess(legal) }
	return s
}

// Search searches from g, in which seat is to move, until the budget b is used up. The nodes of the budget are
// iterations. It returns the move with the most visits, or a random legal move if there was no iteration. When the
// memory for nodes is full, the tree stops growing. r is the source of random numbers.
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

// iterate makes one iteration; from is the position in which it begins. It deals the cards that seat does not see,
// and descends the tree until it has added a node. It then plays the game to its end and adds the scores to all
// nodes on the path.
func (s *Searcher[S, G]) iterate(from G, seat int) {
	s.state = *from
	g := G(&s.state)
	g.Redeal(seat, &s.rand)
	depth, node, grown := 0, root, false
	for !grown && depth < maxPath && g.Turn() != rules.Over {
		mover := g.Turn()
		next, added := s.selectChild(g, node)
		if next == noNode {
			break // the memory is full
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

// selectChild returns the child of node with which the iteration continues. g is the position that belongs to node.
// added reports whether the child is new. If the memory is full and there is no child, the result is noNode.
func (s *Searcher[S, G]) selectChild(g G, node uint32) (kid uint32, added bool) {
	legal := g.Legal(s.moves[:0])
	if s.guess == nil || len(legal) == 1 {
		return s.selectByBound(node, legal)
	}
	return s.selectByGuess(node, legal, s.guess(g, legal))
}

// guessPrior is the prior probability that the guessed move is the best. All other legal moves together have the
// rest, each an equal part.
const guessPrior = 0.6

// selectByGuess returns the child of parent with the greatest sum of its mean score and C * prior * sqrt(all visits
// + 1) / (1 + visits). If this child does not exist yet, it is added, and added is true. guess is the move with the
// prior probability guessPrior. A child without visits has the mean score of all children. If the child does not
// exist and the memory is full, the result is that of selectByBound.
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

// selectByBound adds a child of parent for a random legal move without a child, and returns it; added is then true.
// If all legal moves have children or the memory is full, it returns the child with the greatest upper confidence
// bound, or noNode if there is no child. It overwrites legal.
func (s *Searcher[S, G]) selectByBound(parent uint32, legal []rules.Move) (kid uint32, added bool) {
	best, top, untried := noNode, float32(math.Inf(-1)), 0
	c := float32(s.options.C)
	for _, m := range legal {
		i, _ := s.arena.find(parent, m)
		if i == noNode {
			legal[untried] = m // this overwrites a move that is no longer needed
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

// result returns the move with the most visits and the line of moves that the search expects. Among several such
// moves it returns the one with the highest score. If no move was tried, it returns the argument random as the
// move.
func (s *Searcher[S, G]) result(random rules.Move) search.Result {
	best := s.arena.mostVisited(root)
	if best == noNode {
		return search.Result{Move: random, Nodes: s.meter.Nodes()}
	}
	s.line = s.line[:0]
	for node := best; node != noNode && len(s.line) < maxLine; node = s.arena.mostVisited(node) {
		if len(s.line) > 0 && s.arena.nodes[node].visits < 2 {
			break // a move that was tried once is no expectation
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
