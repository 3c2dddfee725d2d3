package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
)

// The bounds of Options.
const (
	MinScale, MaxScale         = 0.0001, 100.0
	MinTimeScale, MaxTimeScale = 0.0001, 100.0
)

// Options are how to run an experiment.
type Options struct {
	Scale     float64 // of the study's number of games; each row has at least one
	TimeScale float64 // of the bots' time for a move
	Seed      rules.Seed
	Workers   []int // a core for each game that is played at the same time, as referee.Match has them
	Resolver  program.Resolver
	Done      func(games, all int) // after some games, one call at a time; nil for none
}

func (o *Options) check() error {
	if !(o.Scale >= MinScale && o.Scale <= MaxScale) {
		return fmt.Errorf("scale cannot be %g: try %g to %g", o.Scale, MinScale, MaxScale)
	}
	if !(o.TimeScale >= MinTimeScale && o.TimeScale <= MaxTimeScale) {
		return fmt.Errorf("time-scale cannot be %g: try %g to %g", o.TimeScale, MinTimeScale, MaxTimeScale)
	}
	return nil
}

// games returns how many games a row of so many has at the scale.
func (o *Options) games(study int) int {
	return max(1, int(math.Round(float64(study)*o.Scale)))
}

// Report is what an experiment has found.
type Report struct {
	Experiment  string   `json:"experiment"`
	Title       string   `json:"title"`
	Study       string   `json:"study"`
	Remark      string   `json:"remark"`
	Seed        string   `json:"seed"`
	Scale       float64  `json:"scale"`
	TimeScale   float64  `json:"time_scale"`
	Timed       bool     `json:"timed"` // the clock limits some bot: the seed does not decide the games
	Interrupted bool     `json:"interrupted"`
	Games       int      `json:"games"`
	All         int      `json:"all"` // games, of a whole run
	Drawn       int      `json:"drawn"`
	Seconds     float64  `json:"seconds"`
	Tables      []Result `json:"tables"`
	Notes       []string `json:"notes"`
	Curves      []Curve  `json:"curves"`
}

// Curve is how a training went: the share of games that were won, by the games played.
type Curve struct {
	Name  string    `json:"name"`
	Games []int     `json:"games"`
	Won   []float64 `json:"won"` // percent of the games since the last point
}

// Run plays an experiment. When the context ends, it returns the report of what there is, and its
// error.
func (e *Experiment) Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	began := time.Now()
	r := &Report{
		Experiment: e.Name, Title: e.Title, Study: e.Study, Remark: e.Remark, Seed: fmt.Sprint(referee.Hex(o.Seed)),
		Scale: o.Scale, TimeScale: o.TimeScale, Timed: e.Timed(), Notes: []string{}, Curves: []Curve{},
	}
	var rows [][]result
	var err error
	if len(e.Trainings) > 0 {
		rows, err = e.train(ctx, o, r)
	} else {
		rows, err = e.play(ctx, o, r)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	r.Interrupted = err != nil
	r.Seconds = time.Since(began).Seconds()
	for _, games := range rows {
		r.Games += len(games)
		for _, g := range games {
			if g.drawn {
				r.Drawn++
			}
		}
	}
	for i := range e.Tables {
		r.Tables = append(r.Tables, e.compare(&e.Tables[i], rows))
	}
	return r, err
}

// errFault is the error of a game in which a bot had a fault: its figures would mean nothing.
func errFault(m Match, g *referee.Game) error {
	f := g.Faults[0]
	return fmt.Errorf("match %q: %s had a fault: %w", m.Name, g.Seats[f.Seat].Name, errors.New(f.Text))
}
