package house

import (
	"math"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/sample-bots/search/alphabeta"
	"github.com/timba-arena/timba/sample-bots/search/mcts"
)

// The agents of S. Sales, "Tebes", 2015. The study orders the weights, B1 > ... > B6 > 0 and P1 > P2 > P3 > 0, but prints
// no numbers. The defaults are those of timba-lab train tebes-weights, which fits them to tables of the study.

func newTebesWeights(p *params) tebesWeights {
	weight := func(name string, high, normal int, help string) int32 {
		return int32(p.readInt(name, 0, high, normal, help))
	}
	return tebesWeights{
		bonus: [...]int32{
			weight("b1", 1000, 166, "bonus of the opponent's corners"),
			weight("b2", 1000, 38, "bonus of a square from which a corner can be captured"),
			weight("b3", 1000, 9, "bonus of a square from which one of those can be captured"),
			weight("b4", 1000, 3, "bonus of level 4 of the map"),
			weight("b5", 1000, 2, "bonus of the own corners"),
			weight("b6", 1000, 1, "bonus of level 6 of the map"),
		},
		penalty: [...]int32{
			weight("p1", 1000, 103, "penalty for an opponent on an own corner"),
			weight("p2", 1000, 49, "penalty for an opponent on level 2 of the map"),
			weight("p3", 1000, 23, "penalty for an opponent on level 3 of the map"),
		},
		c: [...]int32{
			weight("c1", 100, 1, "weight of the maps in heuristic 2"), // with a higher weight, the sum of the maps could look like a win
			weight("c2", 10000, 3390, "weight of the pieces in heuristic 2"),
			weight("c3", 1000, 15, "weight of the threatened captures in heuristic 2"),
		},
	}
}

// tebesHeuristic declares the option h, which selects the evaluation of positions, and returns its value: 1 or 2.
func tebesHeuristic(p *params) int {
	return p.readInt("h", 1, 2, 2, "heuristic 1 (maps and pieces) or 2 (maps, pieces and captures)")
}

// tebesMethods maps each value of the option "search" of the bot tebes-minimax to the search method of package
// alphabeta that it selects.
var tebesMethods = map[string]alphabeta.Method{"sorted": alphabeta.Sorted, "plain": alphabeta.Plain, "minimax": alphabeta.Exhaustive}

func newTebesMinimax(p *params) Player {
	depth, h := p.readInt("depth", 1, alphabeta.MaxDepth, 5, "depth of the search"), tebesHeuristic(p)
	method := tebesMethods[p.readWord("search", "alpha-beta with sorted moves and a table, plain alpha-beta, or minimax without pruning", "sorted", "plain", "minimax")]
	l, memory := p.readSearch("0s")
	if method != alphabeta.Sorted {
		memory = 0
	}
	d := newTebesThinker(h, newTebesWeights(p))
	d.limits, d.depth, d.options = l, depth, alphabeta.Options{Method: method, Table: memory}
	return &thinkerBot{thinkers: map[string]thinker{"tebes": d}}
}

func newTebesThinker(h int, w tebesWeights) *alphaBetaThinker[tebesPosition, *tebesPosition] {
	return &alphaBetaThinker[tebesPosition, *tebesPosition]{
		initPosition: func(p *tebesPosition, s rules.State, seat int) {
			p.eval = newTebesEval(h, seat, w, s.(*tebes.State))
		},
		setPosition: func(p *tebesPosition, s rules.State) { p.state, p.moveCount = *s.(*tebes.State), 0 },
	}
}

// mctsThinker chooses moves in Tebes by Monte Carlo tree search.
type mctsThinker struct {
	limits
	options   mcts.Options
	keepsTree bool // a search continues with the tree of the last one; otherwise each begins with an empty tree
	heuristic int
	weights   tebesWeights
	eval      tebesEval
	searcher  *mcts.Searcher[tebesTree, *tebesTree]
}

func newTebesMCTS(p *params) Player {
	g := newTebesTreeThinker(p)
	return &thinkerBot{thinkers: map[string]thinker{"tebes": g}}
}

func newTebesGuided(p *params) Player {
	h, k := tebesHeuristic(p), p.readInt("k", 1, 1_000_000, 50, "visits after which the heuristic counts half")
	g := newTebesTreeThinker(p)
	g.heuristic, g.weights, g.options.K = h, newTebesWeights(p), float64(k)
	return &thinkerBot{thinkers: map[string]thinker{"tebes": g}}
}

// newTebesTreeThinker declares the options of both bots that search by package mcts, and returns a thinker with their
// values.
func newTebesTreeThinker(p *params) *mctsThinker {
	keeps := p.readWord("keep", "keep the tree from move to move", "no", "yes") == "yes"
	best := readCriterion(p, "which move is played: of most value, of most visits, or of both, for which the search goes on", "value", "visits", "both")
	l, memory := p.readSearch("4s")
	return &mctsThinker{limits: l, keepsTree: keeps, options: mcts.Options{C: math.Sqrt2, Arena: memory, Criterion: best}}
}

func (g *mctsThinker) startGame(_ *rules.Variant, s rules.State, seat int) error {
	if g.searcher == nil {
		g.searcher = mcts.New[tebesTree](g.options)
	}
	g.searcher.Forget()
	g.eval = newTebesEval(g.heuristic, seat, g.weights, s.(*tebes.State))
	return nil
}

func (g *mctsThinker) think(t *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	if !g.keepsTree {
		g.searcher.Forget()
	}
	budget := g.budget(t)
	found := g.searcher.Search(&tebesTree{*s.(*tebes.State), &g.eval}, budget, r)
	g.recordLateness(budget)
	return found.Move, appendFound(info, s, found)
}
