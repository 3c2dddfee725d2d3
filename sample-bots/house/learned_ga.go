package house

import (
	"embed"
	"io"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/tute"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/ga"
	"github.com/timba-arena/timba/sample-bots/learn/model"
	"github.com/timba-arena/timba/sample-bots/learn/rl"
)

// gaFiles has a model for each mode, trained as docs/training.md says.
//
//go:embed models/ga
var gaFiles embed.FS

// bred is what a genetic search has come to: a player of a net for one of the games, or an agent.
type bred struct {
	brisca *ga.Player[learn.Brisca, *learn.Brisca]
	tute   *ga.Player[learn.Tute, *learn.Tute]
	agent  *rl.Model // nil for a net
}

var gaModels = &models[bred]{kind: model.GA, files: gaFiles, read: func(r io.Reader) (b bred, m learn.Mode, err error) {
	h, body, err := model.Read(r)
	if err != nil {
		return b, m, err
	}
	found, err := ga.Read(h, body)
	switch {
	case err != nil:
	case found.Agent != nil:
		b.agent = found.Agent
	case found.Mode.Tute:
		b.tute = ga.NewPlayer[learn.Tute](found.Mode, found.Net)
	default:
		b.brisca = ga.NewPlayer[learn.Brisca](found.Mode, found.Net)
	}
	return b, found.Mode, err
}}

var gaOptions = []Option{gaModels.option()}

func newGA(s rules.Settings) Player {
	sight := new(rl.Sight)
	return &learnedBot[bred]{
		models: gaModels, path: s.Get(modelName),
		choose: func(b bred, s rules.State, legal []rules.Move, r *rules.Rand, info []byte) (rules.Move, []byte) {
			if b.agent != nil {
				return chooseAgent(b.agent, sight, s, legal, r, info)
			}
			switch s := s.(type) {
			case *brisca.State:
				return chooseGA(b.brisca, &learn.Brisca{State: *s}, legal), info
			case *tute.State:
				return chooseGA(b.tute, &learn.Tute{State: *s}, legal), info
			}
			return legal[0], info // learn.ModeOf knows no other game
		},
	}
}

func chooseGA[S any, P learn.Position[S]](p *ga.Player[S, P], s *S, legal []rules.Move) rules.Move {
	watch := learn.Watched[S, P](s)
	p.Begin(learn.Mode{}, nil) // the last position may be of another game
	return p.Choose(s, &watch, legal)
}
