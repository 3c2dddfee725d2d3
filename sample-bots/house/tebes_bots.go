package house

import (
	"math"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/tebes"
	"github.com/timba-arena/timba/sample-bots/search/alphabeta"
	"github.com/timba-arena/timba/sample-bots/search/mcts"
)

// The agents of M. Sales, "Tebes", 2015. The study orders the weights, B1 > ... > B6 > 0 and P1 >
// P2 > P3 > 0, but prints no numbers: these halve about from level to level, so that a square
// next to a goal outweighs a piece, which heuristic 1 counts as 10.
var (
	heuristicOption = whole("h", 1, 2, 2, "heuristic 1 (maps and pieces) or 2 (maps, pieces and captures)")
	weightOptions   = []Option{
		whole("b1", 0, 1000, 60, "bonus of the opponent's corners"),
		whole("b2", 0, 1000, 30, "bonus of a square from which a corner can be captured"),
		whole("b3", 0, 1000, 15, "bonus of a square from which one of those can be captured"),
		whole("b4", 0, 1000, 8, "bonus of level 4 of the map"),
		whole("b5", 0, 1000, 6, "bonus of the own corners"),
		whole("b6", 0, 1000, 3, "bonus of level 6 of the map"),
		whole("p1", 0, 1000, 60, "penalty for an opponent on an own corner"),
		whole("p2", 0, 1000, 30, "penalty for an opponent on level 2 of the map"),
		whole("p3", 0, 1000, 15, "penalty for an opponent on level 3 of the map"),
		whole("c1", 0, 1000, 1, "weight of the maps in heuristic 2"),
		whole("c2", 0, 10000, 200, "weight of the pieces in heuristic 2"),
		whole("c3", 0, 1000, 5, "weight of the threatened captures in heuristic 2"),
	}
	minimaxOptions = append([]Option{
		whole("depth", 1, alphabeta.MaxDepth, 5, "depth of the search"),
		heuristicOption, timeOption, nodesOption, tableOption,
	}, weightOptions...)
	mctsOptions      = []Option{timeOption.withDefault("4s"), nodesOption, tableOption}
	mctsGuideOptions = append([]Option{
		heuristicOption, whole("k", 1, 1_000_000, 50, "visits after which the heuristic counts half"),
		timeOption.withDefault("4s"), nodesOption, tableOption,
	}, weightOptions...)
)

func newTebesWeights(s rules.Settings) tebesWeights {
	return tebesWeights{
		bonus:   [...]int32{int32(s.Int("b1")), int32(s.Int("b2")), int32(s.Int("b3")), int32(s.Int("b4")), int32(s.Int("b5")), int32(s.Int("b6"))},
		penalty: [...]int32{int32(s.Int("p1")), int32(s.Int("p2")), int32(s.Int("p3"))},
		c:       [...]int32{int32(s.Int("c1")), int32(s.Int("c2")), int32(s.Int("c3"))},
	}
}

func newTebesMinimax(s rules.Settings) Player {
	d := newTebesDeep(s.Int("h"), newTebesWeights(s))
	d.limits, d.depth, d.options.Table = newLimits(s), s.Int("depth"), memory(s)
	return &boardBot{thinkers: map[string]thinker{"tebes": d}}
}

func newTebesDeep(h int, w tebesWeights) *deep[tebesPosition, *tebesPosition] {
	return &deep[tebesPosition, *tebesPosition]{
		start: func(p *tebesPosition, s rules.State, seat int) {
			p.eval = tebesEval{h: h, seat: seat, w: w, maps: newTebesMaps(s.(*tebes.State), seat)}
		},
		set: func(p *tebesPosition, s rules.State) { p.state, p.made = *s.(*tebes.State), 0 },
	}
}

// grown thinks by MCTS.
type grown struct {
	limits
	options  mcts.Options
	h        int
	w        tebesWeights
	eval     tebesEval
	searcher *mcts.Searcher[tebesTree, *tebesTree]
}

func newTebesMCTS(s rules.Settings) Player {
	return newGrown(&grown{limits: newLimits(s), options: mcts.Options{C: math.Sqrt2, Arena: memory(s)}})
}

func newTebesGuided(s rules.Settings) Player {
	return newGrown(&grown{
		limits: newLimits(s), h: s.Int("h"), w: newTebesWeights(s),
		options: mcts.Options{C: math.Sqrt2, K: float64(s.Int("k")), Arena: memory(s)},
	})
}

func newGrown(g *grown) Player { return &boardBot{thinkers: map[string]thinker{"tebes": g}} }

func (g *grown) begin(s rules.State, seat int) {
	if g.searcher == nil {
		g.searcher = mcts.New[tebesTree](g.options)
	}
	g.searcher.Forget()
	g.eval = tebesEval{h: g.h, seat: seat, w: g.w, maps: newTebesMaps(s.(*tebes.State), seat)}
}

func (g *grown) think(t *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	budget := g.budget(t)
	found := g.searcher.Search(&tebesTree{*s.(*tebes.State), &g.eval}, budget, r)
	g.ended(budget)
	info = appendScore(info, 2*found.Value-1)
	info = appendInfo(info, "visits", int64(found.Visits))
	info = appendInfo(info, "nodes", int64(found.Nodes))
	return found.Move, appendLine(info, s, found.Line)
}
