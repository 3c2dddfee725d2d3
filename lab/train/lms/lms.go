// Package lms learns the weights of package teekolms by the least mean squares rule (Mitchell, Machine
// Learning, 1997, section 1.2). Begin with Train.
package lms

import (
	"context"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// drawValue is the training value of a draw. The training value of a win is 1, that of a loss -1.
const drawValue = -0.5

// defaultLimit is the default of Training.Limit, the maximal number of plies (moves of both players) in a game. It
// is that of the first experiments of the study that package teekolms follows.
const defaultLimit = 500

// explorePeriod says how often a player moves at random, for exploration: on average once in this number of its
// moves.
const explorePeriod = 5

// Training is the configuration of a training. Files of experiments set the fields without a tag.
type Training struct {
	Games   int
	Mu      float64 // learning rate
	Fixed   bool    // do not change the weights
	Steady  bool    // players with weights never move at random
	Blind   bool    // players with weights do not check whether a move wins at once
	Replace bool    // each step of learning replaces the weights, see teekolms.Weights.Learn
	Limit   int     // plies of a game; 0 means defaultLimit

	Self     bool                 `toml:"-"` // the opponent uses the learner's current weights
	Rival    *teekolms.Weights    `toml:"-"` // weights of the opponent unless Self; if nil, it moves at random
	Seed     uint64               `toml:"-"`
	Start    teekolms.Weights     `toml:"-"`
	Progress func(LearningReport) `toml:"-"` // called after every hundredth game, unless nil
}

// LearningReport has the learner's wins, losses and draws in a number of games, and its weights after these games.
type LearningReport struct {
	run.WinTally
	Weights teekolms.Weights
}

// Train plays t.Games games and learns after each of them. The learner changes its seat from game to game. The
// result depends only on t. If ctx ends first, Train returns the results so far and the error of ctx.
func Train(ctx context.Context, t Training) (LearningReport, error) {
	if t.Limit == 0 {
		t.Limit = defaultLimit
	}
	report, r := LearningReport{Weights: t.Start}, rules.NewRand(t.Seed)
	for game := range t.Games {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		seen, standing := t.playGame(&report.Weights, game%2, r)
		report.Count(standing)
		if !t.Fixed {
			t.learn(&report.Weights, seen, standing)
		}
		if t.Progress != nil && (game+1)%100 == 0 {
			t.Progress(report)
		}
	}
	return report, nil
}

// playGame plays one game. The learner has the given seat and the weights w. seen has the features of each position
// after a move of the learner. standing is the learner's result: 1 for a win, -1 for a loss, 0 for a draw.
func (t *Training) playGame(w *teekolms.Weights, seat int, r *rules.Rand) (seen []teekolms.Features, standing int) {
	var s teeko.State
	src := rules.FastStream(r)
	s.Deal(teeko.Rules{Limit: uint16(t.Limit)}, &src)
	rival := t.Rival
	if t.Self {
		rival = w
	}
	for s.Turn() != rules.Over {
		mine := s.Turn() == seat
		by := rival
		if mine {
			by = w
		}
		m := t.chooseMove(by, &s, r)
		if s.Apply(m, nil); mine {
			seen = append(seen, teekolms.FeaturesOf(&s, seat))
		}
	}
	switch s.Winner() {
	case seat:
		return seen, 1
	case 1 - seat:
		return seen, -1
	}
	return seen, 0
}

// chooseMove returns the move that a player with weights w chooses in s. If w is nil, the move is random.
// Unless Steady is set, one in explorePeriod moves is also random.
func (t *Training) chooseMove(w *teekolms.Weights, s *teeko.State, r *rules.Rand) rules.Move {
	if w != nil && (t.Steady || r.Below(explorePeriod) > 0) {
		m, _ := w.Choose(s, r, t.Blind)
		return m
	}
	var list [rules.MaxMoves]rules.Move
	legal := s.Legal(list[:0])
	return legal[r.Below(len(legal))]
}

// learn updates w by each position of a game. seen has the features of the positions, and standing is the result: 1
// for a win, -1 for a loss, 0 for a draw. The training value of a position is the present value of the next
// position in seen. For the last position it is standing or, for a draw, drawValue.
func (t *Training) learn(w *teekolms.Weights, seen []teekolms.Features, standing int) {
	end := float64(standing)
	if standing == 0 {
		end = drawValue
	}
	for i, f := range seen {
		train := end
		if i+1 < len(seen) {
			train = w.Value(seen[i+1])
		}
		w.Learn(f, train, t.Mu, t.Replace)
	}
}
