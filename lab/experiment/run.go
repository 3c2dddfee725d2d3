package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
)

// Options are the settings of a run of an experiment.
type Options struct {
	Scale     float64 // factor for the study's number of games; each row has at least one game
	TimeScale float64 // factor for the bots' time for a move
	NodeRate  int     // nodes that replace a second of a bot's time; 0 means to use the time
	// TrainScale is the factor for the amount of training. If it is 0, the smaller of Scale and 1 applies.
	TrainScale   float64
	GamesFile    string // file of the results of games; "" means not to store them
	ModelsDir    string // directory of the trained models
	MaxModelsMiB int    // size limit of ModelsDir
	Seed         rules.Seed
	Workers      []int // processor cores: one for each game that is played at the same time, see match.Resources
	Resolver     program.Resolver
	// Progress, unless nil, is called during the training of a model and during the games. During the games, model
	// is "". done is the amount of work so far, and all is the total amount. unit is the unit of both in the
	// plural, such as "games". Calls are not concurrent.
	Progress func(model, unit string, done, all int)
}

// DefaultOptions are the options of a complete run.
var DefaultOptions = Options{Scale: 1, TimeScale: 1, MaxModelsMiB: 16 << 10}

// Params returns the options that users can set. Setting one of them changes o.
func (o *Options) Params() []run.Param {
	return []run.Param{
		{Name: "scale", Target: &o.Scale, Min: 0.0001, Max: 100, Help: "the number of games, as a multiple of the study's"},
		{Name: "time-scale", Target: &o.TimeScale, Min: 0.0001, Max: 100, Help: "the bots' time for a move, as a multiple of the study's"},
		{Name: "train-scale", Target: &o.TrainScale, Min: 0.00001, Max: 100,
			Help: "the games, episodes or generations of training, as a multiple of the study's (default: --scale, at most 1)"},
		{Name: "nodes-per-second", Target: &o.NodeRate, Min: 1, Max: 10_000_000,
			Help: "give the bots this number of nodes, or iterations of MCTS, for each second of their time (default: the time itself)"},
		{Name: "models", Target: &o.ModelsDir, Help: "the `DIR` for trained models (default: in the user's cache)"},
		{Name: "models-size", Target: &o.MaxModelsMiB, Min: 1, Max: 1 << 24,
			Help: "the limit of this directory in MiB; the least recently used models are removed"},
	}
}

// scaledGames returns the number of games to play in place of the given number of games in the study: that number
// times o.Scale, but at least 1.
func (o *Options) scaledGames(study int) int {
	return max(1, int(math.Round(float64(study)*o.Scale)))
}

// Findings is the result of an experiment.
type Findings struct {
	Experiment  string         `json:"experiment"`
	Title       string         `json:"title"`
	Study       string         `json:"study"`
	Remark      string         `json:"remark"`
	Seed        string         `json:"seed"`
	Scale       float64        `json:"scale"`
	TimeScale   float64        `json:"time_scale"`
	NodeRate    int            `json:"nodes_per_second"` // 0 if the bots had their time
	TrainScale  float64        `json:"train_scale"`
	Timed       bool           `json:"timed"` // see Experiment.Timed
	Interrupted bool           `json:"interrupted"`
	Games       int            `json:"games"`
	TotalGames  int            `json:"all"` // number of games of a complete run
	Draws       int            `json:"drawn"`
	Seconds     float64        `json:"seconds"`
	Tables      []Comparison   `json:"tables"`
	Models      []TrainedModel `json:"models"`
	Notes       []string       `json:"notes"`
	Curves      []Curve        `json:"curves"`
}

// Curve shows how a training went: for several moments, the number of games played and the share of games won.
type Curve struct {
	Name       string    `json:"name"`
	Games      []int     `json:"games"`
	WinPercent []float64 `json:"won"` // of the games since the previous point
}

// Run runs the experiment. If ctx ends, Run returns the findings so far, with Interrupted set, and the error
// or cause of ctx. After any other error the findings are nil.
func (e *Experiment) Run(ctx context.Context, o Options) (*Findings, error) {
	o.TrainScale = cmp.Or(o.TrainScale, min(o.Scale, 1))
	if o.Progress == nil {
		o.Progress = func(string, string, int, int) {}
	}
	began := time.Now()
	r := &Findings{
		Experiment: e.Name, Title: e.Title, Study: e.Study, Remark: e.Remark, Seed: fmt.Sprint(referee.Hex(o.Seed)),
		Scale: o.Scale, TimeScale: o.TimeScale, NodeRate: o.NodeRate, TrainScale: o.TrainScale, Timed: e.Timed(), TotalGames: e.totalGames(&o),
		Models: []TrainedModel{}, Notes: []string{}, Curves: []Curve{},
	}
	rows, err := e.computeResults(ctx, &o, r)
	if err != nil && !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)) {
		return nil, err
	}
	r.Interrupted = err != nil
	r.Seconds = time.Since(began).Seconds()
	if e.kind() != kindModels {
		for _, g := range slices.Concat(rows...) {
			r.Games++
			r.Draws += int(indicator(g.IsDraw))
		}
	}
	if len(rows) == 0 { // ctx has ended before the first game
		rows = make([][]result, len(e.rows)*len(e.ways()))
	}
	for i, w := range e.ways() {
		for t := range e.Tables {
			r.Tables = append(r.Tables, e.compare(&e.Tables[t], w, rows[i*len(e.rows):(i+1)*len(e.rows)]))
		}
	}
	return r, err
}

// computeResults trains the models, plays the games, and returns the results by row of the tables. If the experiment
// trains its models both with and without defects of the study, the rows of the models with defects come first. If
// ctx ends before there are any results, computeResults returns nil.
func (e *Experiment) computeResults(ctx context.Context, o *Options, r *Findings) ([][]result, error) {
	var games *resultsFile
	if e.kind() == kindMatches { // before the training, so that a damaged file is reported early
		var err error
		if games, err = openResults(o.GamesFile); err != nil {
			return nil, err
		}
		defer games.close()
	}
	if len(e.Models) > 0 {
		c, err := openCache(o.ModelsDir, o.MaxModelsMiB)
		if err != nil {
			return nil, err
		}
		defer c.close()
		err = e.trainModels(ctx, o, c, r)
		if e.kind() == kindModels {
			return e.modelRows(r.Models), err
		}
		if err != nil {
			return nil, err
		}
	}
	if e.kind() == kindTrainings {
		return e.runTrainings(ctx, o, r)
	}
	return e.play(ctx, o, r, games)
}
