package house

import (
	"embed"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/tute"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/model"
	"github.com/timba-arena/timba/sample-bots/learn/rollout"
)

// netFiles has a model for each mode, trained as docs/training.md says.
//
//go:embed models/net
var netFiles embed.FS

var netModels = &models[*rollout.Player]{kind: model.Net, files: netFiles, read: reading(rollout.Read)}

var netOptions = []Option{netModels.option()}

// newNet makes the bot that plays the move that a net values most.
func newNet(s rules.Settings) Player {
	return &learnedBot[*rollout.Player]{
		models: netModels, path: s.Get(modelName),
		choose: func(p *rollout.Player, s rules.State, legal []rules.Move, _ *rules.Rand, info []byte) (rules.Move, []byte) {
			switch s := s.(type) {
			case *brisca.State:
				return chooseNet(p, &learn.Brisca{State: *s}, legal), info
			case *tute.State:
				return chooseNet(p, &learn.Tute{State: *s}, legal), info
			}
			return legal[0], info // learn.ModeOf knows no other game
		},
	}
}

func chooseNet[S any, P learn.Position[S]](p *rollout.Player, s P, legal []rules.Move) rules.Move {
	watch := learn.Watched[S, P](s)
	move, _ := rollout.Choose[S, P](p, s, &watch, legal)
	return move
}
