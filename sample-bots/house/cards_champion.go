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

// cardsState is implemented by positions of a card game that can be searched by two packages: ismcts, the Monte
// Carlo search for hidden cards, and endgame, the exact solver. S is the type of the position.
type cardsState[S any] interface {
	ismcts.GuidedState[S]
	endgame.State[S]
}

// cardsThinker chooses moves in Brisca or Tute by information set Monte Carlo tree search. When two players
// know all cards, it tries to solve the rest of the game exactly.
type cardsThinker[S any, G cardsState[S]] struct {
	limits
	memory   int // in bytes, for the search tree and the solver's table together
	searcher *ismcts.Searcher[S, G]
	ending   *endgame.Solver[S, G]
	shared   cardsShared
	position S
	newState func(rules.State) S
}

const (
	// exploration is the weight of the exploration term in the tree search, the option C of package ismcts. In
	// experiments, twice this weight was about as good in Brisca, and worse in Tute.
	exploration = 0.7
	// singleMoveIterations is the maximum number of search iterations if there is only one legal move. The
	// bot searches nevertheless, to report the score that it expects.
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

// startGame prepares for a game: it creates the tree search and the solver, or clears the solver's table if they
// exist. The solver's table gets an eighth of the memory, the tree the rest.
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

func halveTime(b search.Budget) search.Budget {
	if !b.Deadline.IsZero() {
		b.Deadline = b.Deadline.Add(-time.Until(b.Deadline) / 2)
	}
	return b
}
