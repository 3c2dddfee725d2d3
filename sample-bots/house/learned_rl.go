package house

import (
	"embed"
	"io"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/tute"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/model"
	"github.com/timba-arena/timba/sample-bots/learn/rl"
)

// rlFiles has a model for each mode, trained as docs/training.md says.
//
//go:embed models/rl
var rlFiles embed.FS

var rlModels = &models[*rl.Model]{kind: model.RL, files: rlFiles, read: func(r io.Reader) (*rl.Model, learn.Mode, error) {
	m, err := rl.ReadModel(r)
	if err != nil {
		return nil, learn.Mode{}, err
	}
	mode, err := learn.ParseMode(m.Header.Mode)
	return m, mode, err
}}

var rlOptions = []Option{rlModels.option()}

// newRL makes the bot that plays the best action that Monte Carlo learning knows.
func newRL(s rules.Settings) Player {
	sight := new(rl.Sight)
	return &learnedBot[*rl.Model]{
		models: rlModels, path: s.Get(modelName),
		choose: func(m *rl.Model, s rules.State, legal []rules.Move, r *rules.Rand, info []byte) (rules.Move, []byte) {
			return chooseAgent(m, sight, s, legal, r, info)
		},
	}
}

// chooseAgent returns the move of an agent that has learned by Monte Carlo, and appends whether it
// knows the state.
func chooseAgent(m *rl.Model, sight *rl.Sight, s rules.State, legal []rules.Move, r *rules.Rand, info []byte) (move rules.Move, _ []byte) {
	known := false
	switch s := s.(type) {
	case *brisca.State:
		move, known = chooseRL(m, sight, &learn.Brisca{State: *s}, legal, r)
	case *tute.State:
		move, known = chooseRL(m, sight, &learn.Tute{State: *s}, legal, r)
	}
	if known {
		return move, appendInfo(info, "known", 1)
	}
	return move, appendInfo(info, "known", 0)
}

func chooseRL[S any, P learn.Position[S]](m *rl.Model, sight *rl.Sight, p P, legal []rules.Move, r *rules.Rand) (rules.Move, bool) {
	watch := learn.Watched[S, P](p)
	return rl.Choose[S, P](m, sight, p, &watch, legal, r)
}
