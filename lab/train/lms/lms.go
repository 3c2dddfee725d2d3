// Package lms learns the weights of package teekolms by the least mean squares rule. Begin with
// Train.
package lms

import (
	"context"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// drawValue is the training value of a draw. That of a win is 1, that of a loss -1.
const drawValue = -0.5

// defaultLimit is how many plies a game of training has, as in the study's first experiments.
const defaultLimit = 500

// explorePeriod is how often a learner moves at random: once in so many of its moves.
const explorePeriod = 5

// Training is how to learn. Experiments name the fields without a tag.
type Training struct {
	Games   int
	Mu      float64 // the rate of learning
	Fixed   bool    // the weights stay as they are
	Steady  bool    // nobody who plays by weights moves at random
	Blind   bool    // nobody who plays by weights sees that a move wins at once
	Replace bool    // each step of learning replaces the weights, see teekolms.Weights.Learn
	Limit   int     // plies of a game; 0 for those of the study's first experiments

	Self     bool                 `toml:"-"` // the opponent plays by the same weights, else at random
	Rival    *teekolms.Weights    `toml:"-"` // that the opponent plays by, unless Self; nil for random
	Seed     uint64               `toml:"-"`
	Start    teekolms.Weights     `toml:"-"`
	Progress func(LearningReport) `toml:"-"` // after every hundredth game; nil for none
}

// LearningReport is how the training games ended for the learner.
type LearningReport struct {
	run.WinTally
	Weights teekolms.Weights
}

// Train plays games, in which the seats take turns, and learns after each. It is deterministic.
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

// playGame plays a game with the learner in a seat. It returns the positions after each of the
// learner's moves, and 1 if the learner has won, -1 if it has lost, else 0.
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

// chooseMove returns a move by weights, every fifth at random unless Steady; without weights, all are
// random.
func (t *Training) chooseMove(w *teekolms.Weights, s *teeko.State, r *rules.Rand) rules.Move {
	if w != nil && (t.Steady || r.Below(explorePeriod) > 0) {
		m, _ := w.Choose(s, r, t.Blind)
		return m
	}
	var list [rules.MaxMoves]rules.Move
	legal := s.Legal(list[:0])
	return legal[r.Below(len(legal))]
}

// learn trains on each position: its training value is the value of the next one that the learner
// has made, and at the end that of the end.
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
