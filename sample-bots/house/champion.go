package house

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/teeko"
	"github.com/timba-arena/timba/sample-bots/search/alphabeta"
)

var championOptions = []Option{timeOption, nodesOption, tableOption}

// championTebes are the weights of the champion's heuristic 2.
var championTebes = tebesWeights{
	bonus:   [...]int32{60, 30, 15, 8, 6, 3},
	penalty: [...]int32{60, 30, 15},
	c:       [...]int32{1, 200, 5},
}

// newChampion makes the strongest bot of each game that it has a search for.
func newChampion(s rules.Settings) Player {
	tebes := newTebesDeep(2, championTebes)
	tebes.limits, tebes.depth = newLimits(s), alphabeta.MaxDepth
	tebes.options = alphabeta.Options{Table: memory(s), Reduce: true, Deeper: true}
	teeko := &deep[teekoPosition, *teekoPosition]{
		limits: tebes.limits, depth: tebes.depth, options: tebes.options,
		start: func(*teekoPosition, rules.State, int) {},
		set:   func(p *teekoPosition, s rules.State) { p.states[0], p.made = *s.(*teeko.State), 0 },
	}
	podrida := &roundSearch{limits: tebes.limits, memory: memory(s), tune: podridaTuned}
	return &boardBot{thinkers: map[string]thinker{
		"brisca": newDealtBrisca(s), "tute": newDealtTute(s), "podrida": podrida, "tebes": tebes, "teeko": teeko,
	}}
}
