package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/timba-arena/timba/referee/program"
)

// Method is a kind of training: a command of timba-lab train, and what models of experiments name.
type Method struct {
	Name, Short, Long, Example string

	File    string // what it writes
	Unit    string // of its progress, in the plural
	Version int    // rises when the same settings come to another model
	Defects []Defect
	// Settings returns the settings with their defaults.
	Settings func() TrainingSettings
}

// TrainingSettings decide what a training comes to. Their JSON is config.json of the run.
type TrainingSettings interface {
	// Params returns the settings one by one.
	Params() []Param
	// Complete sets what follows from the settings that were given, and returns why there is no such
	// training.
	Complete(given func(name string) bool) error
	// Prepare prepares the training, whose settings are complete.
	Prepare(context.Context, Input) (Trainer, error)
}

// Input is what a training has besides its settings. The result does not depend on the workers.
type Input struct {
	Workers  int
	Resolver program.Resolver // of the bots that play
}

// TrainingResult is what a training came to. Its JSON is result.json, its text is for people.
type TrainingResult interface{ String() string }

// Trainer is a training that goes step by step to a result.
type Trainer interface {
	// Progress returns how much of all is done. With all the training ends.
	Progress() (done, all int)
	// Step goes on. After an error, as that of the context, the state is one to go on from.
	Step(context.Context) error
	// Report adds to the metrics and the log what is due after a step.
	Report(*Folder) error
	// Save writes the state, and Load reads it into a training that has just begun.
	Save(io.Writer) error
	Load(io.Reader) error
	// Finish writes the model and the plots. It may be called again after the error of the context.
	Finish(context.Context, *Folder) (TrainingResult, error)
	// Size returns the bytes that the whole training takes, after some of its steps.
	Size() (memory, disk int64)
}

// A checkpoint is written so long after the last one, or longer where it takes more than one in so
// many parts of the time.
const (
	checkpointInterval   = 20 * time.Second
	checkpointCostFactor = 20
)

// Run trains in the directory of a run, which is opened as by Open, from its checkpoint on if there is
// one, and notes its beginning, its end and its time there. When the context has ended, it returns the
// context's error after a checkpoint; any other error, as that of a checkpoint, is one of the run. A new
// training that cannot begin leaves no directory.
func Run(ctx context.Context, dir string, s TrainingSettings, in Input, resume bool, progress func(done, all int)) (TrainingResult, error) {
	f, err := Open(dir, s, resume)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	f.Log("%s", map[bool]string{false: "begun", true: "resumed"}[resume])
	var result TrainingResult
	began := time.Now()
	t, err := s.Prepare(ctx, in)
	prepared := time.Since(began)
	if err == nil {
		result, err = f.train(ctx, t, progress)
	} else if !resume && ctx.Err() == nil {
		f.discard()
		return nil, err
	}
	took := time.Since(began)
	switch {
	case err == nil:
		f.Log("done in %s", FormatDuration(took))
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		f.Log("interrupted")
		err = ctx.Err()
	default:
		f.Log("error: %v", err)
	}
	if failed := f.addTimes(prepared, took-prepared, err == nil); failed != nil {
		return result, failed // joined with the context's it would look like an interruption
	}
	return result, err
}

// train makes the steps of a training, then finishes it and writes result.json. When the context ends,
// it writes a checkpoint and returns the context's error.
func (f *Folder) train(ctx context.Context, t Trainer, progress func(done, all int)) (TrainingResult, error) {
	if err := f.LoadCheckpoint(t.Load); err != nil {
		return nil, err
	}
	done, all := t.Progress()
	progress(done, all)
	for saved, took := time.Now(), time.Duration(0); done < all; progress(done, all) {
		if err := t.Step(ctx); err != nil {
			return nil, f.SaveInterrupted(err, t.Save)
		}
		if err := t.Report(f); err != nil {
			return nil, err
		}
		done, all = t.Progress()
		if begin := time.Now(); done == all || begin.Sub(saved) > max(checkpointInterval, checkpointCostFactor*took) {
			if err := f.SaveCheckpoint(t.Save); err != nil {
				return nil, err
			}
			saved = time.Now()
			took = saved.Sub(begin)
		}
	}
	result, err := t.Finish(ctx, f)
	switch {
	case err == nil:
		return result, f.WriteResult(result)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil, f.SaveInterrupted(err, t.Save)
	}
	return nil, err
}

// sampleTime is how long Estimate trains.
const sampleTime = 500 * time.Millisecond

// Sampler is a trainer whose steps may take long. Sample makes a part of the work, in about that
// time, and returns how much it would be with all workers.
type Sampler interface {
	Sample(context.Context, time.Duration) (done int, err error)
}

// Estimate returns what a training costs, from its first steps or a sample. The unit is that of its
// progress.
func Estimate(ctx context.Context, unit string, s TrainingSettings, in Input) (c Cost, err error) {
	began := time.Now()
	t, err := s.Prepare(ctx, in)
	if err != nil {
		return c, err
	}
	prepared := time.Since(began)
	done, all := t.Progress()
	if sampler, ok := t.(Sampler); ok {
		done, err = sampler.Sample(ctx, sampleTime)
	} else {
		for ; err == nil && done < all && time.Since(began)-prepared < sampleTime; done, _ = t.Progress() {
			err = t.Step(ctx)
		}
	}
	if err != nil {
		return c, fmt.Errorf("dry-run: %w", err)
	}
	took := time.Since(began) - prepared
	c = Cost{Work: int64(all), Unit: unit, Time: prepared + time.Duration(float64(took)*float64(all)/float64(done))}
	c.Memory, c.Disk = t.Size()
	return c, nil
}

// Cost is what a training costs, as --dry-run prints it.
type Cost struct {
	Work   int64  // games, rows, episodes or generations
	Unit   string // of Work, in the plural
	Time   time.Duration
	Memory int64 // bytes
	Disk   int64 // bytes
}

// Write prints the cost.
func (c Cost) Write(w io.Writer) {
	fmt.Fprintf(w, "%-7s %s\n", c.Unit, humanize.Comma(c.Work))
	fmt.Fprintf(w, "%-7s about %s, as a short sample took on this machine now\n", "time", FormatDuration(c.Time))
	fmt.Fprintf(w, "%-7s about %s\n", "memory", humanize.IBytes(uint64(c.Memory)))
	fmt.Fprintf(w, "%-7s about %s\n", "disk", humanize.IBytes(uint64(c.Disk)))
}

// FormatDuration returns a time for people, with two units at most.
func FormatDuration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
