package house

import (
	"embed"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/tute"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/model"
	"github.com/timba-arena/timba/sample-bots/learn/sl"
)

// slFiles has a model for each mode, trained as docs/training.md says.
//
//go:embed models/sl
var slFiles embed.FS

var slModels = &models[*sl.Agent]{kind: model.SL, files: slFiles, read: reading(sl.Read)}

// byMean is the value of the option choice that compares means.
const byMean = "mean"

var slOptions = []Option{
	slModels.option(),
	{Option: rules.Option{Name: "choice", Values: []string{"likely", byMean}, Help: "compare moves by their most probable label, as the study does, or by the mean of all"}},
}

func newSL(s rules.Settings) Player {
	mean := s.Get("choice") == byMean
	return &learnedBot[*sl.Agent]{
		models: slModels, path: s.Get(modelName),
		choose: func(a *sl.Agent, s rules.State, legal []rules.Move, _ *rules.Rand, info []byte) (rules.Move, []byte) {
			var move rules.Move
			var value float64
			switch s := s.(type) {
			case *brisca.State:
				move, value = chooseSL(a, &learn.Brisca{State: *s}, legal, mean)
			case *tute.State:
				move, value = chooseSL(a, &learn.Tute{State: *s}, legal, mean)
			}
			return move, appendScore(info, value)
		},
	}
}

func chooseSL[S any, P learn.Position[S]](a *sl.Agent, p P, legal []rules.Move, mean bool) (rules.Move, float64) {
	w := learn.Watched[S, P](p)
	return sl.Choose[S, P](a, p, &w, legal, mean)
}
