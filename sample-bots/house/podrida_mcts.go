package house

import (
	"math"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/mcts"
)

// The determinized MCTS of M. Arnaus, "La Podrida", 2023.

// podridaKnowledge has the values of the option hands of the bot podrida-mcts. Each selects what a random deal of
// the hidden cards must agree with.
var podridaKnowledge = map[string]podrida.Knowledge{
	"failed": podrida.Failures, "unseen": podrida.Played, "random": podrida.OwnHand,
}

// podridaTree is a position of La Podrida that the Monte Carlo tree search of package mcts can search. All cards are
// known in it: before a search, random cards replace those that the bot does not see.
type podridaTree struct {
	podrida.State
	playouts podridaPlayouts
}

// podridaPlayouts says how the playouts of a Monte Carlo tree search are played, and how much their results are worth.
// A playout is a quick game from a position in the search tree to an end.
type podridaPlayouts struct {
	byRules     bool                  // moves follow the rules of the bot podrida-rules; otherwise they are random
	isWholeGame bool                  // a playout ends with the game; otherwise with the round
	isByPoints  bool                  // the points that a seat wins count; otherwise only whether it wins
	basePoints  [rules.MaxSeats]int16 // the points of each seat before the search
	lowest      int                   // the fewest points that a seat can win in a playout, 0 or negative
	span        int                   // the most points that a seat can win in a playout, minus lowest
}

// prepare sets basePoints, lowest and span of p, by which points are scaled to rewards, for a search that begins in s.
// isWholeGame must be set before.
func (p *podridaPlayouts) prepare(s *podrida.State) {
	for seat := range p.basePoints {
		p.basePoints[seat] = int16(s.PointsOf(seat))
	}
	last := s.Round()
	if p.isWholeGame {
		last = s.Rules().Rounds()
	}
	p.lowest, p.span = 0, 0
	for round := s.Round(); round <= last; round++ {
		p.lowest -= podrida.BidPoints
		p.span += 2*podrida.BidPoints + s.Rules().HandSize(round)
	}
}

// Reward returns what the end of the round or game is worth for the seat with the number side, from 0 to 1. If
// t.playouts.isByPoints is true, the fewest points that are possible since the search began are worth 0, the most 1.
// Otherwise a round is worth 1 if the seat has won exactly the tricks that it has bid, and else 0. A game is then worth
// 1 to the only seat with the most points, one half to each of several such seats, and else 0.
func (t *podridaTree) Reward(side int) float64 {
	p := &t.playouts
	switch {
	case p.isByPoints:
		return float64(t.PointsOf(side)-int(p.basePoints[side])-p.lowest) / float64(p.span)
	case p.isWholeGame:
		return t.gameReward(side)
	case t.MissingTricks(side) == 0:
		return 1
	}
	return 0
}

func (t *podridaTree) gameReward(side int) float64 {
	reward := 1.0
	for other := range int(t.Rules().Players) {
		switch d := t.PointsOf(other) - t.PointsOf(side); {
		case d > 0:
			return 0
		case d == 0 && other != side:
			reward = 0.5
		}
	}
	return reward
}

// Playout makes moves in t until the game is over. Depending on t.playouts, the moves follow the rules of the bot
// podrida-rules, or are random by r. If a playout shall end with the round, dealWorld has made this round the last one.
func (t *podridaTree) Playout(r *rules.Rand) {
	var space [podrida.MostMoves]rules.Move
	for t.Turn() != rules.Over {
		if t.playouts.byRules {
			move, _ := studyRules.choose(&t.State, t.Turn())
			t.Apply(move, nil)
			continue
		}
		legal := t.Legal(space[:0])
		t.Apply(legal[r.Below(len(legal))], nil)
	}
}

// Prior returns one half for every side, so that the search begins without a preference for any move.
func (*podridaTree) Prior(int) float32 { return 0.5 }

// voter chooses moves in La Podrida. It deals the hidden cards several times, and searches each deal by
// Monte Carlo tree search with a tree of its own. It plays the move that most trees choose or, of several
// such moves, the one with the highest total value.
type voter struct {
	limits
	it, det  int // iterations for each deal, and number of deals
	hands    podrida.Knowledge
	options  mcts.Options
	searcher *mcts.Searcher[podridaTree, *podridaTree]
	world    podridaTree
	votes    [rules.MaxMoves]vote // by move
	line     []rules.Move
}

// vote sums up the results of all search trees that have chosen the same move.
type vote struct {
	trees, visits int
	value         float64 // sum of the values in these trees
}

// isBetter reports whether more trees have chosen the move of v than the move of the other vote. If the numbers are
// equal, the higher total value decides.
func (v *vote) isBetter(than *vote) bool {
	if v.trees != than.trees {
		return v.trees > than.trees
	}
	return v.value > than.value
}

func newPodridaMCTS(p *params) Player {
	c := p.readFloat("c", 0, 100, 0.1, "weight of exploration")
	v := &voter{
		it:    p.readInt("it", 1, 1_000_000, 40, "iterations for each deal of the hidden cards"),
		det:   p.readInt("det", 1, 10_000, 10, "deals of the hidden cards"),
		hands: podridaKnowledge[p.readWord("hands", "what a deal respects: the suits that a seat failed to follow, the cards seen, or nothing", "failed", "unseen", "random")],
	}
	best := readCriterion(p, "which move a deal votes for: of most value, of most visits, or of the greatest upper bound as inside the tree", "value", "visits", "ucb")
	v.world.playouts = podridaPlayouts{
		byRules:     p.readWord("playouts", "moves of the playouts: random, or by the rules of podrida-rules", "random", "rules") == "rules",
		isWholeGame: p.readWord("until", "where a playout ends: with the round, or with the game", "round", "game") == "game",
		isByPoints:  p.readWord("reward", "what a playout counts for: a win, which is a fulfilled bid or a won game, or the points", "win", "points") == "points",
	}
	var memory int
	v.limits, memory = p.readSearch("0s")
	if all := uint64(v.it) * uint64(v.det); v.nodes == 0 || v.nodes > all {
		v.nodes = all
	}
	// The study's c * sqrt(2 ln N / n) is C * sqrt(ln N / n) in package mcts.
	v.options = mcts.Options{C: c * math.Sqrt2, Arena: min(memory, mcts.ArenaSize(v.it, podrida.MostMoves)), Criterion: best}
	return &thinkerBot{thinkers: map[string]thinker{"podrida": v}}
}

func (v *voter) startGame(_ *rules.Variant, s rules.State, _ int) error {
	if sides := int(s.(*podrida.State).Rules().Players); v.searcher == nil || v.options.Sides != sides {
		v.options.Sides = sides
		v.searcher = mcts.New[podridaTree](v.options)
	}
	return nil
}

func (v *voter) think(t *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	budget := v.budget(t)
	left, deals := budget.Nodes, v.det
	if t.Moves.Len() == 1 {
		deals = 1 // there is no choice
	}
	v.votes = [rules.MaxMoves]vote{}
	var best rules.Move
	for range deals {
		v.dealWorld(s.(*podrida.State), t.Game.Seat, r)
		v.searcher.Forget()
		budget.Nodes = min(left, uint64(v.it))
		found := v.searcher.Search(&v.world, budget, r)
		left -= found.Nodes
		n := &v.votes[found.Move]
		n.trees, n.visits, n.value = n.trees+1, n.visits+found.Visits, n.value+found.Value
		if n.isBetter(&v.votes[best]) {
			if best != found.Move || len(found.Line) > len(v.line) {
				v.line = append(v.line[:0], found.Line...)
			}
			best = found.Move
		}
		if left == 0 || found.Nodes < uint64(v.it) {
			break
		}
	}
	v.recordLateness(budget)
	n := v.votes[best]
	return best, appendFound(info, s, search.Result{
		Value: n.value / float64(n.trees), Visits: n.visits, Nodes: v.nodes - left, Line: v.line,
	})
}

// dealWorld sets v.world, the position to be searched, to a copy of s with random cards in place of those that seat
// does not know. If playouts end with the round, the game in v.world ends with the round, too.
func (v *voter) dealWorld(s *podrida.State, seat int, r *rules.Rand) {
	v.world.State = *s
	v.world.RedealKnowing(seat, v.hands, r)
	v.world.playouts.prepare(s)
	if !v.world.playouts.isWholeGame {
		v.world.EndWithRound()
	}
}
