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

// Method is a method of training, for example reinforcement learning. Each method is a subcommand of
// "timba-lab train". The files of experiments refer to it by name.
type Method struct {
	Name, Short, Long, Example string // name and help of the command

	File    string   // name of the file with the result, in the directory of the run
	Unit    string   // unit of Trainer.Progress, in the plural
	Version int      // must increase when the same settings give a different model
	Defects []Defect // defects of the study that the method can reproduce
	// Settings returns new settings with default values.
	Settings func() TrainingSettings
}

// TrainingSettings are all settings of a training. They alone determine its result. Their JSON is stored as
// config.json.
type TrainingSettings interface {
	// Params returns the settings one by one. Setting one of them changes the TrainingSettings.
	Params() []Param
	// Complete sets values that follow from other values, and checks all settings. given(name) reports whether the
	// user has set the setting called name.
	Complete(given func(name string) bool) error
	// Prepare returns a Trainer that has made no step. Complete must have been called before.
	Prepare(context.Context, Input) (Trainer, error)
}

// Input is what a training needs besides its settings. The number of workers does not change the result.
type Input struct {
	Workers  int
	Resolver program.Resolver // finds the bots that play
}

// TrainingResult is the result of a training. Its JSON is stored as result.json; String is for the user.
type TrainingResult interface{ String() string }

// Trainer is a training in progress.
type Trainer interface {
	// Progress returns how many units of work are done and how many there are. If these are equal, only Finish
	// remains.
	Progress() (done, all int)
	// Step does the next part of the work. If it fails, for example because the context has ended, the training can
	// still be saved and resumed later.
	Step(context.Context) error
	// Report is called after each step. If it is time for a report, it adds to the metrics and the log.
	Report(*Folder) error
	// Save writes the state of the training. Load restores this state, in a Trainer that has made no step.
	Save(io.Writer) error
	Load(io.Reader) error
	// Finish writes the model and the plots. If it fails because ctx has ended, it may be called again.
	Finish(context.Context, *Folder) (TrainingResult, error)
	// Size returns estimates, in bytes, of the memory and disk space that the whole training needs. It is
	// called after some steps.
	Size() (memory, disk int64)
}

// A checkpoint is due checkpointInterval after the last one. If writing the last one took long, the interval is
// checkpointCostFactor times that duration.
const (
	checkpointInterval   = 20 * time.Second
	checkpointCostFactor = 20
)

// Run runs a training with the settings s in the directory dir. If resume is true, it continues an earlier run from
// its checkpoint; otherwise dir must be empty or not exist. It calls progress at the start and after each step, with
// the numbers of finished and of all units of work. When ctx ends, Run saves a checkpoint and returns ctx.Err(). Any
// other error means that the training has failed. If a new training cannot be prepared, Run removes its files and
// dir.
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
		return result, failed // errors.Join with ctx.Err() would look like an interruption
	}
	return result, err
}

// train runs a training to its end, from its checkpoint if there is one, and writes result.json. It calls progress
// at the start and after each step, with the numbers of finished and of all units of work. When ctx ends, it saves a
// checkpoint and returns ctx.Err().
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

// sampleTime is the duration for which Estimate runs a training.
const sampleTime = 500 * time.Millisecond

// Sampler is implemented by a Trainer whose steps may take long. Sample works for about the given time. It returns
// how much work all workers together would have done, in the unit of Progress.
type Sampler interface {
	Sample(context.Context, time.Duration) (done int, err error)
}

// Estimate predicts the cost of a training. If the trainer implements Sampler, it calls Sample, otherwise it makes
// steps for about half a second. unit is the unit of Cost.Work in the plural, such as "games".
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

// Cost is the estimated cost of a training, which --dry-run prints.
type Cost struct {
	Work   int64  // number of games, rows, episodes or generations
	Unit   string // unit of Work, in the plural
	Time   time.Duration
	Memory int64 // in bytes
	Disk   int64 // in bytes
}

// Write prints the cost as text.
func (c Cost) Write(w io.Writer) {
	fmt.Fprintf(w, "%-7s %s\n", c.Unit, humanize.Comma(c.Work))
	fmt.Fprintf(w, "%-7s about %s, as a short sample took on this machine now\n", "time", FormatDuration(c.Time))
	fmt.Fprintf(w, "%-7s about %s\n", "memory", humanize.IBytes(uint64(c.Memory)))
	fmt.Fprintf(w, "%-7s about %s\n", "disk", humanize.IBytes(uint64(c.Disk)))
}

// FormatDuration returns d as text in one suitable unit, for example "90 s" or "2.5 h".
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
