package house

import (
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/endgame"
	"github.com/timba-arena/timba/sample-bots/search/ismcts"
)

// cardsState is a state that both searches for card games accept.
type cardsState[S any] interface {
	ismcts.GuidedState[S]
	endgame.State[S]
}

// cardsThinker thinks by information set MCTS. When two players know all cards, it solves the rest of the game.
type cardsThinker[S any, G cardsState[S]] struct {
	limits
	memory   int // memory of the tree and of the solver's table, in bytes
	searcher *ismcts.Searcher[S, G]
	ending   *endgame.Solver[S, G]
	shared   cardsShared
	position S
	newState func(rules.State) S
}

const (
	// exploration is the weight of exploration. Twice as much is about as good in Brisca, and worse in Tute.
	exploration = 0.7
	// singleMoveIterations is the number of iterations for the only legal move. They show what the bot expects.
	singleMoveIterations = 100
)

func newBriscaThinker(l limits, memory int) *cardsThinker[briscaTree, *briscaTree] {
	d := &cardsThinker[briscaTree, *briscaTree]{limits: l, memory: memory}
	d.newState = func(s rules.State) briscaTree {
		return briscaTree{*s.(*brisca.State), &d.shared}
	}
	return d
}

func newTuteThinker(l limits, memory int) *cardsThinker[tuteTree, *tuteTree] {
	d := &cardsThinker[tuteTree, *tuteTree]{limits: l, memory: memory}
	d.newState = func(s rules.State) tuteTree {
		x := s.(*tute.State)
		d.shared.lacks = x.Lacks(d.shared.lacks[:0], x.Turn())
		return tuteTree{*x, &d.shared}
	}
	return d
}

// startGame makes the searches with the first game. The table of the solver gets an eighth of the memory.
func (d *cardsThinker[S, G]) startGame(*rules.Variant, rules.State, int) error {
	if d.searcher == nil {
		d.searcher = ismcts.NewGuided[S, G](ismcts.Options{C: exploration, Arena: d.memory / 8 * 7})
		d.ending = endgame.New[S, G](d.memory / 8)
		d.shared.ending = newBriscaEnding()
	}
	d.ending.Forget()
	return nil
}

func (d *cardsThinker[S, G]) think(t *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	budget := d.budget(t)
	defer d.recordLateness(budget)
	d.position = d.newState(s)
	if openHands(cards.Table(s)) {
		if found := d.ending.Solve(&d.position, halveTime(budget), r); found.Exact {
			return found.Move, appendSolved(info, s, found)
		}
	}
	if t.Moves.Len() == 1 && (budget.Nodes == 0 || budget.Nodes > singleMoveIterations) {
		budget.Nodes = singleMoveIterations
	}
	found := d.searcher.Search(&d.position, s.Turn(), budget, r)
	return found.Move, appendFound(info, s, found)
}

// halveTime returns the budget with half of the time that is left.
func halveTime(b search.Budget) search.Budget {
	if !b.Deadline.IsZero() {
		b.Deadline = b.Deadline.Add(-time.Until(b.Deadline) / 2)
	}
	return b
}
