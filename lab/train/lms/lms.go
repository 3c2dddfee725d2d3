// Package lms trains weights for package teekolms, which plays Teeko. It plays games and changes the weights by the
// least mean squares rule (Mitchell, Machine Learning, 1997, section 1.2). Begin with Train.
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

// drawValue is the result that a draw counts as in learning, where a win counts as 1 and a loss as -1.
const drawValue = -0.5

// defaultLimit is the number of moves of both players together after which a game is a draw, if Training.Limit is 0.
// The study that package teekolms follows has this limit in its first experiments.
const defaultLimit = 500

// Training has the settings of Train: the number of games, the opponent, and how the weights change. A file of an
// experiment cannot set the fields with the tag toml:"-". It can set all others, also those of the embedded structs.
type Training struct {
	Games int // number of games
	Limit int // most moves in a game, of both players together; 0 means defaultLimit
	RateSchedule
	MoveStyle
	LearningRule

	Self     bool                 `toml:"-"` // the opponent plays with the current weights of the learner
	Rival    *teekolms.Weights    `toml:"-"` // first weights of the opponent; nil: it has none of its own
	RivalBot *house.LocalSeat     `toml:"-"` // the opponent; nil: it plays by Self or Rival or, without them, at random
	Seed     uint64               `toml:"-"` // determines all random numbers
	Start    teekolms.Weights     `toml:"-"` // weights with which the learner begins
	Progress func(LearningReport) `toml:"-"` // called after every hundredth game with the results so far; may be nil
}

// RateSchedule says how the learning rate changes in the course of a training. The learning rate is the factor of every
// change of the weights. If both Fall and Cycle are set, their effects are multiplied.
type RateSchedule struct {
	Mu    float64 // the learning rate of the first game; later rates are not higher
	Fall  int     // number of games after which the rate is Mu/2; it is Mu/3 after 2*Fall games; 0: it does not fall
	Cycle int     // number of games in which the rate falls to 0 and rises again, like a cosine; 0: it does not
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

// MoveStyle says how a player with weights chooses its moves. Without random moves it always plays the move to the
// position of the highest value.
type MoveStyle struct {
	Period int  // of each player's moves in a game, every Period-th is random; 0: no move is random
	Chance bool // each move is random with probability 1/Period; otherwise exactly every Period-th
	Blind  bool // a move that wins at once is valued like any other; otherwise its value is 1
}

// movesAtRandom reports whether a player with weights makes its next move at random. earlier is the number of moves
// that this player has already made in the game. r decides if m.Chance is set.
func (m MoveStyle) movesAtRandom(earlier int, r *rules.Rand) bool {
	switch {
	case m.Period == 0:
		return false
	case m.Chance:
		return r.Below(m.Period) == 0
	}
	return (earlier+1)%m.Period == 0
}

// LearningRule says how the weights of the players change after a game. In its zero value, only the weights of the
// learner change.
type LearningRule struct {
	Fixed          bool // the weights of the learner do not change
	Replace        bool // each step replaces the weights instead of adding to them, see teekolms.Weights.Learn
	ScalesFeatures bool `toml:"normalized"` // features are scaled to 0 to 1 for learning
	Moves          bool // features that are numbers of moves are used, too; otherwise they count as 0
	LearnsBoth     bool // the opponent learns, too, if it plays with the weights Rival
}

// LearningReport is what a training has reached after a number of games: the learner's wins, losses and draws so far,
// and the present weights.
type LearningReport struct {
	run.WinTally
	SquareWins   int              // how many of the wins were by a square of four pieces
	Weights      teekolms.Weights // weights of the learner
	RivalWeights teekolms.Weights // weights of the opponent; all are 0 if it has none of its own
}

// Train plays t.Games games. After each game it changes the weights of the players that learn. The learner has seat 0
// in the first game, seat 1 in the next, and so on. The results depend only on t. If ctx ends or a game fails, Train
// returns the results so far and the error.
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

// rivalWeights returns the weights with which the opponent plays, or nil if it plays without weights. If t.Self is set,
// they are the weights of the learner in r. Otherwise they are r.RivalWeights, which rivalWeights sets to t.Rival.
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

// learner and rival are the indexes of the two players in the arrays of a match.
const (
	learner = 0
	rival   = 1
)

// match is a series of games between a learner and its opponent, with the position of the game in progress. An array of
// two has the value for the learner at the index learner, and the value for the opponent at the index rival.
type match struct {
	*Training
	variant *rules.Variant
	rand    *rules.Rand
	weights [2]*teekolms.Weights // nil for a player without weights; only the opponent can be one
	state   teeko.State
	history [2][]teekolms.Features // of each position after a move of the player in the current game
}

// play plays one game, in which the learner has the given seat. It returns 1 if the learner wins, -1 if it loses, and 0
// for a draw. It also keeps the features of the positions, from which learn learns. It returns an error if a bot as the
// opponent fails.
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

// chooseMove returns the next move in g.state for player, which is learner or rival. A bot as the opponent chooses its
// own move. A player with weights plays by them, except for the random moves of MoveStyle; a player without weights
// always moves at random. chooseMove returns an error if the bot fails.
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

// learn changes the weights of each player that learns, by the game that has just ended. standing is the learner's
// result: 1 for a win, -1 for a loss, 0 for a draw. mu is the learning rate, the factor of the changes.
func (g *match) learn(standing int, mu float64) {
	if !g.Fixed {
		g.update(learner, standing, mu)
	}
	if g.LearnsBoth && g.weights[rival] != nil && !g.Self {
		g.update(rival, -standing, mu)
	}
}

// update changes the weights of player, which is learner or rival, by the game that has just ended. After each move of
// the player there was a position. The weights change so that the value of each such position comes closer to the value
// of the next one. The value of the last position comes closer to standing, the player's result (1 or -1), or to
// drawValue if standing is 0. mu is the learning rate, the factor of the changes.
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
