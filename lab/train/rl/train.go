package rl

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

const (
	reports       = 50   // lines of metrics in a run
	evaluated     = 1000 // games of an evaluation
	evaluateSeed  = 1    // of the games of every evaluation
	checkpointGap = 5 * time.Minute
	sampleTime    = time.Second // of a training, to say what it costs
)

// Report is what has come of a training.
type Report struct {
	Pairs  int    `json:"pairs"`       // of a state and an action
	States int    `json:"states"`      // in the model
	Turned uint64 `json:"turned_away"` // how many times something new was turned away because the tables were full
	Tally  Tally  `json:"random"`      // games against random players, in the end
}

// training is a run in its directory.
type training struct {
	*Learner
	folder *run.Folder
	game   Game   // of evaluations
	counts Counts // since the last line of metrics
	full   bool   // the log says that the tables are full
}

// Train learns in the directory of a run, from its checkpoint on if there is one, and writes the
// model. The config is valid. When the context ends, it writes a checkpoint and returns the error
// of the context.
func Train(ctx context.Context, c Config, f *run.Folder, workers int, done func(done, all int)) (Report, error) {
	t := training{Learner: New(c, Cards(c)), folder: f, game: Cards(c)()}
	if _, err := f.Load(t.load); err != nil {
		return Report{}, err
	}
	saved := time.Now()
	for !t.Done() {
		done(t.Episodes, c.Episodes)
		if err := t.Batch(ctx, workers); err != nil {
			return Report{}, f.Interrupted(err, t.save)
		}
		if err := t.report(); err != nil {
			return Report{}, err
		}
		if time.Since(saved) > checkpointGap {
			if err := f.Checkpoint(t.save); err != nil {
				return Report{}, err
			}
			saved = time.Now()
		}
	}
	done(t.Episodes, c.Episodes)
	return t.finish()
}

// save writes a checkpoint: a line of JSON, then what the learner needs.
func (t *training) save(w io.Writer) error {
	if err := run.WriteState(w, t.counts); err != nil {
		return err
	}
	return t.Save(w)
}

// load reads what save wrote.
func (t *training) load(r io.Reader) error {
	b, err := run.ReadState(r, &t.counts)
	if err != nil {
		return err
	}
	err = t.Load(b)
	t.full = t.Turned() > 0
	return err
}

// report adds a line of metrics now and then: when an episode that is a multiple has been played.
func (t *training) report() error {
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
		t.folder.Log("the tables are full after %d episodes: new pairs are turned away from here on, the others go on learning", t.Episodes)
	}
	return t.folder.Metrics(t.Episodes, values...)
}

func (t *training) evaluate() Tally { return Evaluate(t.game, &t.agents[0], evaluated, evaluateSeed) }

func (t *training) pairs() (n int) {
	for _, s := range t.states {
		n += s.Len()
	}
	return n
}

// finish writes the model and the plots.
func (t *training) finish() (r Report, err error) {
	r = Report{Pairs: t.pairs(), Turned: t.Turned(), Tally: t.evaluate()}
	t.merge()
	h := model.Header{
		Kind: model.RL, Mode: t.config.Mode, Variant: t.config.Variant, Encoding: t.config.Encoding(),
		Seed: t.config.Seed, Defects: t.config.Defects,
	}
	err = t.folder.Model(h, func(w io.Writer) (err error) {
		r.States, err = t.WriteModel(w)
		return err
	})
	if err != nil {
		return r, err
	}
	x := "episodes"
	if err := t.folder.Plot("won", "Against random players", x, "games won", "won"); err != nil {
		return r, err
	}
	if err := t.folder.Plot("score", "Against random players", x, "points more", "score"); err != nil {
		return r, err
	}
	if err := t.folder.Plot("known", "States that are known", x, "part of the decisions", "known"); err != nil {
		return r, err
	}
	return r, t.folder.Result(r)
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

// Cost returns what a training costs, from a short sample of it.
func Cost(ctx context.Context, c Config, workers int) (run.Cost, error) {
	l := New(c, Cards(c))
	began := time.Now()
	for !l.Done() && time.Since(began) < sampleTime {
		if err := l.Batch(ctx, workers); err != nil {
			return run.Cost{}, fmt.Errorf("dry-run: interrupted: %w", err)
		}
	}
	share := float64(c.Episodes) / float64(l.Episodes)
	limit := int64(c.Memory) << 20
	tables := min(limit, int64(share*float64(l.Bytes())))
	return run.Cost{
		Work: int64(c.Episodes), Unit: "episodes", Time: time.Duration(share * float64(time.Since(began))),
		Memory: tables + overhead, Disk: 2 * tables,
	}, nil
}

// overhead is the memory of a training besides its tables.
const overhead = 128 << 20
