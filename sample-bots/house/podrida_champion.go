package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/sample-bots/search/ismcts"
)

// roundThinker chooses moves in La Podrida by information set Monte Carlo tree search. The search looks no further
// than the end of the present round.
type roundThinker struct {
	limits
	memory   int
	round    podridaRound
	searcher *ismcts.Searcher[podridaWorld, *podridaWorld]
	world    podridaWorld
}

func (b *roundThinker) startGame(*rules.Variant, rules.State, int) error {
	if b.searcher == nil {
		b.searcher = ismcts.New[podridaWorld](ismcts.Options{C: podridaC, Arena: b.memory})
	}
	return nil
}

func (b *roundThinker) think(t *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	budget := b.budget(t)
	if t.Moves.Len() == 1 {
		budget.Nodes = 1 // there is no choice
	}
	b.world = podridaWorld{*s.(*podrida.State), &b.round}
	b.round.prepare(&b.world.State, t.Game.Seat)
	b.world.EndWithRound()
	found := b.searcher.Search(&b.world, t.Game.Seat, budget, r)
	b.recordLateness(budget)
	return found.Move, appendFound(info, s, found)
}
