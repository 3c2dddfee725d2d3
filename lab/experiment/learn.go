package experiment

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/sl"
)

// Learned is a model as it was trained.
type Learned struct {
	Name      string   `json:"name"`
	Way       string   `json:"way,omitempty"` // "as published" or "mended", where both are played
	Method    string   `json:"method"`
	Mode      string   `json:"mode"`
	Defects   []string `json:"defects"`
	Size      int      `json:"size"`  // games of the data set, episodes or generations
	Study     int      `json:"study"` // as many in the study
	Unit      string   `json:"unit"`  // of both
	More      string   `json:"more,omitempty"`
	Making    float64  `json:"making"` // seconds for the data set
	Preparing float64  `json:"preparing"`
	Training  float64  `json:"training"`
	Workers   int      `json:"workers"`
	Dir       string   `json:"dir"` // of its run

	entry string // the name of its run
}

// seconds returns the time of the training, and of its data set where it has one.
func (l *Learned) seconds() float64 { return l.Making + l.Preparing + l.Training }

// had returns what the model learned from, for people.
func (l *Learned) had() string {
	text := fmt.Sprintf("%s %s", humanize.Comma(int64(l.Size)), l.Unit)
	if l.Size != l.Study {
		text = fmt.Sprintf("%s of %s %s", humanize.Comma(int64(l.Size)), humanize.Comma(int64(l.Study)), l.Unit)
	}
	return text + l.More
}

// kept returns the defects, for people.
func (l *Learned) kept() string {
	if len(l.Defects) == 0 {
		return "none"
	}
	return strings.Join(l.Defects, ", ")
}

// spec returns the house bot that plays by the model.
func (l *Learned) spec() string {
	return "@" + l.Method + ":model=" + filepath.Join(l.Dir, run.ModelFile)
}

// label returns a name of the bot that does not depend on where the model is.
func (l *Learned) label() string { return "@" + l.Method + ":model=" + l.entry }

// trainSeed returns the seed of the trainings: that of the experiment, as timba-lab train takes it.
func trainSeed(o *Options) uint64 { return binary.BigEndian.Uint64(o.Seed[len(o.Seed)-8:]) }

// learn trains the models in every way, or takes those that are there. With an error it returns
// the models that are.
func (e *Experiment) learn(ctx context.Context, o *Options, c *cache) (list []Learned, err error) {
	for _, w := range e.ways() {
		for i := range e.Models {
			m := &e.Models[i]
			p, err := e.plan(m, w, o.TrainScale, trainSeed(o))
			if err != nil {
				return list, fmt.Errorf("model %q: %w", m.Name, err)
			}
			l := Learned{Name: m.Name, Way: string(w), Method: m.Method, Mode: m.Mode, Defects: append([]string{}, p.defects()...), Size: p.size, Study: p.study, Unit: p.unit, More: p.more}
			if err := l.train(ctx, o, c, p); err != nil {
				if ctx.Err() == nil {
					err = fmt.Errorf("model %q: %w", m.Name, err)
				}
				return list, err
			}
			list = append(list, l)
		}
	}
	return list, c.prune()
}

// train trains the model, unless it is there, after its data set.
func (l *Learned) train(ctx context.Context, o *Options, c *cache, p *plan) error {
	title := l.Name
	if l.Way != "" {
		title += ", " + l.Way
	}
	if p.data != nil {
		dir, took, err := c.train(ctx, o, p.data, title+": data")
		if err != nil {
			return err
		}
		l.Making = took.Training
		data, err := dataset.Load(dir, 0)
		if err != nil {
			return err
		}
		p.settings.(*sl.Config).Use(data)
	}
	dir, took, err := c.train(ctx, o, p, title)
	if err != nil {
		return err
	}
	l.Dir, l.entry, l.Workers = dir, p.name(), p.goroutines(o)
	if l.Method == methodData {
		l.Making = took.Training
		return nil
	}
	l.Preparing, l.Training = took.Preparing, took.Training
	return nil
}

// goroutines returns how many a training has.
func (p *plan) goroutines(o *Options) int { return cmp.Or(p.workers, max(1, len(o.Workers))) }

// train makes what a plan says, unless it is there, and returns its directory and what it took.
func (c *cache) train(ctx context.Context, o *Options, p *plan, title string) (string, run.Times, error) {
	dir, begun, took, err := c.entry(p)
	if err != nil || took.Done {
		return dir, took, err
	}
	if err := ctx.Err(); err != nil {
		return dir, took, err
	}
	done := func(done, all int) {
		if o.Learning != nil {
			o.Learning(title, p.method.Unit, done, all)
		}
	}
	if _, err := run.Run(ctx, dir, p.settings, run.Input{Workers: p.goroutines(o), Resolver: o.Resolver}, begun, done); err != nil {
		return dir, took, err
	}
	// It is done: a checkpoint, which may be large, has no use any more.
	if err := os.RemoveAll(filepath.Join(dir, run.CheckpointFile)); err != nil {
		return dir, took, err
	}
	if err := c.prune(); err != nil {
		return dir, took, err
	}
	took, err = run.ReadTimes(dir)
	return dir, took, err
}
