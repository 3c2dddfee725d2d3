// Package lms learns the weights of package teekolms by the least mean squares rule (Mitchell, Machine
// Learning, 1997, section 1.2). Begin with Train.
package lms

import (
	"context"
	"math"
	"strconv"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// drawValue is the training value of a draw. The training value of a win is 1, that of a loss -1.
const drawValue = -0.5

// defaultLimit is the default of Training.Limit, the maximal number of plies (moves of both players) in a game. It
// is that of the first experiments of the study that package teekolms follows.
const defaultLimit = 500

// Training is the configuration of a training. Files of experiments set the fields without a tag, and those of the
// embedded structs.
type Training struct {
	Games int
	Limit int // plies of a game; 0 means defaultLimit
	RateSchedule
	MoveStyle
	LearningRule

	Self     bool                 `toml:"-"` // the opponent uses the learner's current weights
	Rival    *teekolms.Weights    `toml:"-"` // weights of the opponent
	RivalBot *house.LocalSeat     `toml:"-"` // the opponent; without Self, Rival and RivalBot it moves at random
	Seed     uint64               `toml:"-"`
	Start    teekolms.Weights     `toml:"-"`
	Progress func(LearningReport) `toml:"-"` // called after every hundredth game, unless nil
}

// RateSchedule is the learning rate in the course of a training.
type RateSchedule struct {
	Mu    float64 // the highest learning rate, that of the first game
	Fall  int     // number of games after which the rate has fallen to half, and after twice as many more to a third; 0: it does not fall
	Cycle int     // number of games in which the rate falls to 0 and rises again, as a cosine; 0: no cycles
}

// rate returns the learning rate after a number of games.
func (r RateSchedule) rate(games int) float64 {
	mu := r.Mu
	if r.Fall > 0 {
		mu /= 1 + float64(games)/float64(r.Fall)
	}
	if r.Cycle > 0 {
		mu *= (1 + math.Cos(2*math.Pi*float64(games)/float64(r.Cycle))) / 2
	}
	return mu
}

// MoveStyle says how players with weights choose their moves.
type MoveStyle struct {
	Period int  // every Period-th move of a player in a game is random; 0: none
	Chance bool // instead, each move is random with probability 1/Period
	Blind  bool // the players do not check whether a move wins at once
}

// movesAtRandom reports whether the move of a player with weights is random. earlier is the number of moves that the
// player has made in the game.
func (m MoveStyle) movesAtRandom(earlier int, r *rules.Rand) bool {
	switch {
	case m.Period == 0:
		return false
	case m.Chance:
		return r.Below(m.Period) == 0
	}
	return (earlier+1)%m.Period == 0
}

// LearningRule says what a learner learns from a game.
type LearningRule struct {
	Fixed          bool // nothing: the weights do not change
	Replace        bool // each step of learning replaces the weights, see teekolms.Weights.Learn
	ScalesFeatures bool // features are scaled to 0 to 1 for learning
	Moves          bool // the features that count moves are learned, too
	LearnsBoth     bool // the opponent learns, too, if it plays with the weights Rival
}

// LearningReport has the learner's wins, losses and draws in a number of games, and the weights after these games.
type LearningReport struct {
	run.WinTally
	SquareWins   int // number of wins by a square
	Weights      teekolms.Weights
	RivalWeights teekolms.Weights // weights of the opponent; zero if it has none
}

// Train plays t.Games games and learns after each of them. The learner changes its seat from game to game. The
// result depends only on t. If ctx ends first, Train returns the results so far and the error of ctx.
func Train(ctx context.Context, t Training) (LearningReport, error) {
	if t.Limit == 0 {
		t.Limit = defaultLimit
	}
	report := LearningReport{Weights: t.Start}
	variant, err := teeko.Game.Resolve(map[string]string{"limit": strconv.Itoa(t.Limit)})
	if err != nil {
		return report, err
	}
	g := match{Training: &t, variant: variant, rand: rules.NewRand(t.Seed), weights: [2]*teekolms.Weights{&report.Weights, t.rivalWeights(&report)}}
	for game := range t.Games {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		standing, err := g.play(game % 2)
		if err != nil {
			return report, err
		}
		report.Count(standing)
		if standing > 0 && g.state.EndReason() == teeko.EndSquare {
			report.SquareWins++
		}
		g.learn(standing, t.rate(game))
		if t.Progress != nil && (game+1)%100 == 0 {
			t.Progress(report)
		}
	}
	return report, nil
}

// rivalWeights returns the weights with which the opponent plays: those of the learner in r if t.Self is set, and
// otherwise those that r has for the opponent, after setting them to t.Rival. It returns nil if the opponent has none.
func (t *Training) rivalWeights(r *LearningReport) *teekolms.Weights {
	switch {
	case t.Self:
		return &r.Weights
	case t.Rival == nil:
		return nil
	}
	r.RivalWeights = *t.Rival
	return &r.RivalWeights
}

// The indexes of the players of a match.
const (
	learner = 0
	rival   = 1
)

// match is a series of games between a learner and its opponent. Arrays of two have an element for each.
type match struct {
	*Training
	variant *rules.Variant
	rand    *rules.Rand
	weights [2]*teekolms.Weights // nil for an opponent without weights
	state   teeko.State
	history [2][]teekolms.Features // of each position after a move of the player in the current game
}

// play plays one game, in which the learner has the given seat. It returns the learner's result: 1 for a win, -1 for a
// loss, 0 for a draw.
func (g *match) play(seat int) (standing int, err error) {
	src := rules.FastStream(g.rand)
	g.state.Deal(teeko.Rules{Limit: uint16(g.Limit)}, &src)
	g.history = [2][]teekolms.Features{g.history[0][:0], g.history[1][:0]}
	if g.RivalBot != nil {
		g.RivalBot.StartGame(g.variant, 1-seat, g.rand.Uint64()&protocol.MaxSeed, 0)
	}
	for g.state.Turn() != rules.Over {
		player, mover := learner, g.state.Turn()
		if mover != seat {
			player = rival
		}
		m, err := g.chooseMove(player)
		if err != nil {
			return 0, err
		}
		g.state.Apply(m, nil)
		if g.weights[player] != nil {
			g.history[player] = append(g.history[player], teekolms.FeaturesOf(&g.state, mover, g.Moves))
		}
	}
	switch g.state.Winner() {
	case seat:
		return 1, nil
	case 1 - seat:
		return -1, nil
	}
	return 0, nil
}

// chooseMove returns the move of a player, which is to move. A player without weights moves at random.
func (g *match) chooseMove(player int) (rules.Move, error) {
	w := g.weights[player]
	switch {
	case player == rival && g.RivalBot != nil:
		return g.RivalBot.Move(&g.state)
	case w != nil && !g.movesAtRandom(len(g.history[player]), g.rand):
		m, _ := w.Choose(&g.state, g.rand, g.Blind)
		return m, nil
	}
	var list [rules.MaxMoves]rules.Move
	legal := g.state.Legal(list[:0])
	return legal[g.rand.Below(len(legal))], nil
}

// learn changes the weights of the players that learn, by the game that has ended. standing is the result of the
// learner: 1 for a win, -1 for a loss, 0 for a draw.
func (g *match) learn(standing int, mu float64) {
	if !g.Fixed {
		g.update(learner, standing, mu)
	}
	if g.LearnsBoth && g.weights[rival] != nil && !g.Self {
		g.update(rival, -standing, mu)
	}
}

// update changes the weights of a player by each position of the game that has ended. The training value of a position
// is the present value of the next position of this player. For the last position it is standing, the player's result,
// or, for a draw, drawValue.
func (g *match) update(player, standing int, mu float64) {
	end := float64(standing)
	if standing == 0 {
		end = drawValue
	}
	w, features := g.weights[player], g.history[player]
	if g.ScalesFeatures {
		*w = w.Scale()
		for i := range features {
			features[i] = features[i].Scale()
		}
	}
	for i, f := range features {
		train := end
		if i+1 < len(features) {
			train = w.Value(features[i+1])
		}
		w.Learn(f, train, mu, g.Replace)
	}
	if g.ScalesFeatures {
		*w = w.Unscale()
	}
}
