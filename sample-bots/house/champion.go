package house

import (
	"maps"
	"slices"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/sample-bots/search/alphabeta"
)

// championTebes has the weights by which the bot champion evaluates positions of Tebes.
var championTebes = tebesWeights{
	bonus:   [...]int32{60, 30, 15, 8, 6, 3},
	penalty: [...]int32{60, 30, 15},
	c:       [...]int32{1, 200, 5},
}

// championGames has, by the name of a game, the function that creates the thinker with which the bot champion plays
// the game. memory is the size, in bytes, of the table or tree of the search.
var championGames = map[string]func(l limits, memory int) thinker{
	"brisca":  func(l limits, memory int) thinker { return newBriscaThinker(l, memory) },
	"tute":    func(l limits, memory int) thinker { return newTuteThinker(l, memory) },
	"podrida": func(l limits, memory int) thinker { return &roundThinker{limits: l, memory: memory} },
	"tebes": func(l limits, memory int) thinker {
		d := newTebesThinker(2, championTebes)
		d.limits, d.depth, d.options = l, alphabeta.MaxDepth, championOptions(memory)
		return d
	},
	"teeko": func(l limits, memory int) thinker {
		return &alphaBetaThinker[teekoPosition, *teekoPosition]{
			limits: l, depth: alphabeta.MaxDepth, options: championOptions(memory),
			initPosition: func(*teekoPosition, rules.State, int) {},
			setPosition:  func(p *teekoPosition, s rules.State) { p.states[0], p.moveCount = *s.(*teeko.State), 0 },
		}
	},
}

var championGameNames = slices.Sorted(maps.Keys(championGames))

func championOptions(memory int) alphabeta.Options {
	return alphabeta.Options{Table: memory, ReduceLateMoves: true, UseDeeperEntries: true}
}

// newChampion returns a player for the bot champion. The option level can make the player weaker.
func newChampion(p *params) Player {
	level := p.readInt(levelName, 1, topLevel, topLevel, "how well it plays, 1 for a beginner")
	l, memory := p.readSearch("0s")
	thinkers := map[string]thinker{}
	for game, search := range championGames {
		if level < topLevel {
			thinkers[game] = levelGrades[game][level-1].weaken(l, memory, search)
		} else {
			thinkers[game] = search(l, memory)
		}
	}
	return &thinkerBot{thinkers: thinkers}
}
