package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Trainer is a training that goes step by step to a result.
type Trainer[R any] interface {
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
	Finish(context.Context, *Folder) (R, error)
	// Size returns the bytes that the whole training takes, after some of its steps.
	Size() (memory, disk int64)
}

// A checkpoint is written so long after the last one, or longer where it takes more than one in so
// many parts of the time.
const (
	saveEvery = 20 * time.Second
	savePart  = 20
)

// Train makes the steps of a training, from its checkpoint on if there is one, then finishes it and
// writes result.json. Start prepares the training. When the context ends, Train writes a checkpoint
// and returns the context's error.
func Train[R any](ctx context.Context, f *Folder, start func(context.Context) (Trainer[R], error), progress func(done, all int)) (result R, err error) {
	began := time.Now()
	t, err := start(ctx)
	if err != nil {
		return result, err
	}
	f.prepared = time.Since(began)
	if _, err := f.Load(t.Load); err != nil {
		return result, err
	}
	done, all := t.Progress()
	progress(done, all)
	for saved, took := time.Now(), time.Duration(0); done < all; progress(done, all) {
		if err := t.Step(ctx); err != nil {
			return result, f.Interrupted(err, t.Save)
		}
		if err := t.Report(f); err != nil {
			return result, err
		}
		done, all = t.Progress()
		if begin := time.Now(); done == all || begin.Sub(saved) > max(saveEvery, savePart*took) {
			if err := f.Checkpoint(t.Save); err != nil {
				return result, err
			}
			saved = time.Now()
			took = saved.Sub(begin)
		}
	}
	result, err = t.Finish(ctx, f)
	switch {
	case err == nil:
		return result, f.Result(result)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return result, f.Interrupted(err, t.Save)
	}
	return result, err
}

// sampleTime is how long Estimate trains.
const sampleTime = 500 * time.Millisecond

// Estimate returns what a training costs, from its first steps. The unit is that of its progress.
func Estimate[R any](ctx context.Context, unit string, start func(context.Context) (Trainer[R], error)) (c Cost, err error) {
	began := time.Now()
	t, err := start(ctx)
	if err != nil {
		return c, err
	}
	prepared := time.Since(began)
	done, all := t.Progress()
	for done < all && time.Since(began)-prepared < sampleTime {
		if err := t.Step(ctx); err != nil {
			return c, fmt.Errorf("dry-run: interrupted: %w", err)
		}
		done, all = t.Progress()
	}
	c = Cost{Work: int64(all), Unit: unit, Time: prepared + time.Duration(float64(time.Since(began)-prepared)*float64(all)/float64(done))}
	c.Memory, c.Disk = t.Size()
	return c, nil
}
