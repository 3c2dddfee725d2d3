package rl

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

const (
	reports      = 50   // lines of metrics in a run
	evaluated    = 1000 // games of an evaluation
	evaluateSeed = 1    // of the games of every evaluation
)

// Report is what has come of a training.
type Report struct {
	Pairs  int    `json:"pairs"`       // of a state and an action
	States int    `json:"states"`      // in the model
	Turned uint64 `json:"turned_away"` // how many times something new was turned away because the tables were full
	Tally  Tally  `json:"random"`      // games against random players, in the end

	memory int // that the tables may take, in MiB
}

func (r Report) String() string {
	s := fmt.Sprintf("%s of a state and an action, %s in the model\nagainst random players: %v\n",
		text.Count(r.Pairs, "pair"), text.Count(r.States, "state"), r.Tally)
	if r.Turned > 0 {
		s += fmt.Sprintf("the tables were full: %d new pairs were turned away; give more than --memory %d, or --variant %s\n", r.Turned, r.memory, policy.Abstract)
	}
	return s
}

// training is a learner as it is trained.
type training struct {
	*Learner
	workers int
	game    Game   // of evaluations
	counts  Counts // since the last line of metrics
	full    bool   // the log says that the tables are full
}

// Begin begins a training. The config is valid.
func (c *Config) Begin(_ context.Context, in run.Input) (run.Trainer, error) {
	return &training{Learner: New(*c, Cards(*c)), workers: in.Workers, game: Cards(*c)()}, nil
}

// Progress returns the episodes that have been played, and all.
func (t *training) Progress() (done, all int) { return t.Episodes, t.config.Episodes }

// Step plays a batch and learns from it.
func (t *training) Step(ctx context.Context) error { return t.Batch(ctx, t.workers) }

// Save writes a checkpoint: a line of JSON, then what the learner needs.
func (t *training) Save(w io.Writer) error {
	if err := run.WriteState(w, t.counts); err != nil {
		return err
	}
	return t.Learner.Save(w)
}

// Load reads what Save wrote.
func (t *training) Load(r io.Reader) error {
	b, err := run.ReadState(r, &t.counts)
	if err != nil {
		return err
	}
	err = t.Learner.Load(b)
	t.full = t.Turned() > 0
	return err
}

// Report adds a line of metrics now and then: when an episode that is a multiple has been played.
func (t *training) Report(f *run.Folder) error {
	c := &t.config
	t.counts.add(t.Counts)
	every := max(1, c.Episodes/reports)
	if t.Episodes/every == (t.Episodes-t.Learner.Counts.Episodes)/every {
		return nil
	}
	tally := t.evaluate()
	values := []run.Value{
		{Name: "epsilon", X: c.epsilon(t.Episodes)},
		{Name: "pairs", X: float64(t.pairs())},
		{Name: "bytes", X: float64(t.Bytes())},
		{Name: "turned_away", X: float64(t.Turned())},
		{Name: "known", X: float64(t.counts.Known) / float64(max(1, t.counts.Chosen))},
		{Name: "won", X: tally.Share()},
		{Name: "score", X: float64(tally.Score) / float64(tally.Games())},
	}
	t.counts = Counts{}
	if t.Turned() > 0 && !t.full {
		t.full = true
		f.Log("the tables are full after %d episodes: new pairs are turned away from here on, the others go on learning", t.Episodes)
	}
	return f.Metrics(t.Episodes, values...)
}

func (t *training) evaluate() Tally { return Evaluate(t.game, &t.agents[0], evaluated, evaluateSeed) }

func (t *training) pairs() (n int) {
	for _, s := range t.states {
		n += s.Len()
	}
	return n
}

// Finish writes the model and the plots.
func (t *training) Finish(_ context.Context, f *run.Folder) (run.Result, error) {
	r := Report{memory: t.config.Memory, Pairs: t.pairs(), Turned: t.Turned(), Tally: t.evaluate()}
	t.merge()
	h := model.Header{
		Kind: model.RL, Mode: t.config.Mode, Variant: t.config.Variant, Encoding: t.config.Encoding(),
		Seed: t.config.Seed, Defects: t.config.Defects,
	}
	err := f.Model(h, func(w io.Writer) (err error) {
		r.States, err = t.WriteModel(w)
		return err
	})
	x := "episodes"
	return r, errors.Join(err,
		f.Plot("won", "Against random players", x, "games won", "won"),
		f.Plot("score", "Against random players", x, "points more", "score"),
		f.Plot("known", "States that are known", x, "part of the decisions", "known"),
	)
}

// WriteModel writes the body of the model of the first agent, and returns how many states it has.
func (l *Learner) WriteModel(w io.Writer) (states int, err error) {
	if states, err = WritePolicy(w, l.states[0], l.config.Visits, nil); err != nil || l.votes == nil {
		return states, err
	}
	_, err = WritePolicy(w, l.votes[0], 1, nil)
	return states, err
}

// merge gives the first agent what the others have learned, and the memory of all.
func (l *Learner) merge() {
	l.states[0].limit *= len(l.states)
	for _, t := range l.states[1:] {
		l.states[0].Merge(t)
	}
	for i, t := range l.votes {
		if i == 0 {
			t.limit *= len(l.votes)
			continue
		}
		l.votes[0].Count(t)
	}
}

// Size returns the bytes of the tables and of their checkpoint.
func (t *training) Size() (memory, disk int64) {
	const overhead = 128 << 20 // the memory besides the tables
	tables := min(int64(t.config.Memory)<<20, int64(float64(t.Bytes())*float64(t.config.Episodes)/float64(t.Episodes)))
	return tables + overhead, 2 * tables
}
