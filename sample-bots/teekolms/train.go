package teekolms

import (
	"context"
	"fmt"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/teeko"
)

// The training values of the end of a game.
const (
	won   = 1.0
	lost  = -1.0
	drawn = -0.5
)

// limit is how many plies a game of training has, as in the study's first experiments.
const limit = 500

// explore is how often a learner moves at random: once in so many of its moves.
const explore = 5

// Training is how to learn.
type Training struct {
	Games    int
	Mu       float64 // the rate of learning
	Self     bool    // the opponent plays by the same weights, else at random
	Seed     uint64
	Start    Weights
	Progress func(Report) // after every hundredth game; nil for none
}

// Report is how the training games ended for the learner.
type Report struct {
	Won, Lost, Drawn int
	Weights          Weights
}

// Games returns how many games have been played.
func (r Report) Games() int { return r.Won + r.Lost + r.Drawn }

// Train plays games, in which the seats take turns, and learns after each. It is deterministic.
func Train(ctx context.Context, t Training) (Report, error) {
	if t.Games < 1 || !(t.Mu > 0 && t.Mu <= 1) {
		return Report{}, fmt.Errorf("training: %d games with a rate of %g: at least 1 game, and a rate above 0, at most 1", t.Games, t.Mu)
	}
	report, r := Report{Weights: t.Start}, rules.NewRand(t.Seed)
	for game := range t.Games {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		seen, end := play(&report.Weights, game%2, t.Self, r)
		report.count(end)
		learn(&report.Weights, seen, end, t.Mu)
		if t.Progress != nil && (game+1)%100 == 0 {
			t.Progress(report)
		}
	}
	return report, nil
}

func (r *Report) count(end float64) {
	switch end {
	case won:
		r.Won++
	case lost:
		r.Lost++
	default:
		r.Drawn++
	}
}

// play plays a game with the learner in a seat. It returns the positions after each of the
// learner's moves and the training value of the end.
func play(w *Weights, seat int, self bool, r *rules.Rand) (seen []Features, end float64) {
	var s teeko.State
	src := rules.FastStream(r)
	s.Deal(teeko.Rules{Limit: limit}, &src)
	for s.Turn() != rules.Over {
		mine := s.Turn() == seat
		m := move(w, &s, mine || self, r)
		if s.Apply(m, nil); mine {
			seen = append(seen, Look(&s, seat))
		}
	}
	switch s.Winner() {
	case seat:
		return seen, won
	case 1 - seat:
		return seen, lost
	}
	return seen, drawn
}

// move returns a move by the weights, every fifth at random, or always at random.
func move(w *Weights, s *teeko.State, learned bool, r *rules.Rand) rules.Move {
	if learned && r.Below(explore) > 0 {
		m, _ := w.Choose(s, r)
		return m
	}
	var list [rules.MaxMoves]rules.Move
	legal := s.Legal(list[:0])
	return legal[r.Below(len(legal))]
}

// learn trains on each position: its training value is the value of the next one that the learner
// has made, and at the end that of the end.
func learn(w *Weights, seen []Features, end, mu float64) {
	for i, f := range seen {
		train := end
		if i+1 < len(seen) {
			train = w.Value(seen[i+1])
		}
		w.Learn(f, train, mu)
	}
}
