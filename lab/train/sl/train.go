package sl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// The percentages of the rows that are used for validation and for the test. All others are used for training.
const (
	validatePercent = 10
	testPercent     = 10
)

// Training is a supervised training in progress. It implements run.Trainer.
type Training struct {
	config         Config
	workers        int
	rows           *Rows
	train          []row
	validate       []row
	test           []row
	net            *net.Net
	trainer        *fit.NetTrainer
	fillers        []*filler
	progress       progress
	shuffledEpochs int // number of epochs whose shuffle was applied to train
}

// progress is the state of a training that a checkpoint stores in addition to the weights.
type progress struct {
	Epoch int     `json:"epoch"`
	Row   int     `json:"row"`  // within the epoch
	Loss  float64 `json:"loss"` // sum over these rows
}

// Result is the result of a supervised training. It is stored as result.json.
type Result struct {
	Train    int     `json:"train"` // number of rows for training
	Classes  int     `json:"classes"`
	Weights  int     `json:"weights"`
	Validate Metrics `json:"validate"` // after the last epoch
	Test     Metrics `json:"test"`
}

func (r *Result) String() string {
	classes := "won or not"
	if r.Classes > 1 {
		classes = fmt.Sprintf("%d classes", r.Classes)
	}
	t := r.Test
	return fmt.Sprintf("%s rows to learn from, %s, %s weights\ntest, %s rows: loss %.4f, accuracy %.2f %%, exact %.2f %%, precision %.2f %%, recall %.2f %%\n",
		humanize.Comma(int64(r.Train)), classes, humanize.Comma(int64(r.Weights)), humanize.Comma(int64(t.Rows)),
		t.Loss, 100*t.Accuracy, 100*t.Exact, 100*t.Precision, 100*t.Recall)
}

// ReadTest returns the results on test data of the finished supervised training whose directory is dir. It reads them
// from result.json and returns an error if it cannot.
func ReadTest(dir string) (*Metrics, error) {
	data, err := os.ReadFile(filepath.Join(dir, run.ResultFile))
	if err != nil {
		return nil, err
	}
	var r Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, run.ResultFile), err)
	}
	return &r.Test, nil
}

// Prepare computes the labels of the data set and returns a Training of a net with random weights. It returns an
// error if the data set is too small.
func (c *Config) Prepare(ctx context.Context, in run.Input) (run.Trainer, error) {
	return newTraining(ctx, *c, c.set, in.Workers)
}

func newTraining(ctx context.Context, c Config, set *dataset.Set, workers int) (*Training, error) {
	rows, err := newRows(ctx, set, &c, workers)
	if err != nil {
		return nil, err
	}
	t := &Training{config: c, workers: workers, rows: rows}
	list := append([]row(nil), rows.list...)
	run.Shuffle(list, rules.NewRand(run.DeriveSeed(c.Seed, "split", 0)))
	validate, test := len(list)*validatePercent/100, len(list)*testPercent/100
	t.train, list = list[:len(list)-validate-test], list[len(list)-validate-test:]
	t.validate, t.test = list[:validate], list[validate:]
	if validate == 0 || test == 0 {
		return nil, fmt.Errorf("the data set has %d decisions: too few to validate and test", len(rows.list))
	}
	out, outputs := net.Softmax, len(rows.labels)
	if c.Variant == VariantWL {
		out, outputs = net.Sigmoid, 1
	}
	sizes := append(append([]int{rows.encoder.Inputs()}, c.Hidden...), outputs)
	if t.trainer, err = fit.NewRandomTrainer(sizes, out, c.Rate, c.Seed, workers); err != nil {
		return nil, err
	}
	t.net = t.trainer.Net
	for range workers {
		t.fillers = append(t.fillers, &filler{rows: rows})
	}
	return t, nil
}

func (t *Training) Progress() (done, all int) {
	return t.progress.Epoch*len(t.train) + t.progress.Row, t.config.Epochs * len(t.train)
}

// Report adds a line of metrics to f after each epoch. The line has the mean loss in the epoch, and the results on
// the rows for validation.
func (t *Training) Report(f *run.Folder) error {
	if t.progress.Row > 0 {
		return nil
	}
	m := t.measure(t.validate)
	err := f.AddMetrics(t.progress.Epoch, run.Metric{Name: "loss", Value: t.progress.Loss / float64(len(t.train))}, run.Metric{Name: "validation_loss", Value: m.Loss},
		run.Metric{Name: "accuracy", Value: m.Accuracy}, run.Metric{Name: "exact", Value: m.Exact},
		run.Metric{Name: "precision", Value: m.Precision}, run.Metric{Name: "recall", Value: m.Recall})
	t.progress.Loss = 0
	return err
}

// Finish tests the net on the rows for the test, and writes the model and the plots to f. It returns a *Result.
func (t *Training) Finish(_ context.Context, f *run.Folder) (run.TrainingResult, error) {
	r := &Result{
		Train: len(t.train), Classes: t.net.Sizes[len(t.net.Sizes)-1], Weights: t.net.ParamCount(),
		Validate: t.measure(t.validate), Test: t.measure(t.test),
	}
	f.Log("test: %+v", r.Test)
	return r, errors.Join(
		f.WriteModel(run.ModelFile, t.Header(), t.net.Write),
		f.Plot("loss", "mean loss of a row", "epoch", "cross-entropy", "loss", "validation_loss"),
		f.Plot("validation", "validation rows", "epoch", "share", "accuracy", "exact", "precision", "recall"),
	)
}

func (t *Training) Size() (memory, disk int64) {
	const rowBytes = 8
	weights := int64(4 * t.net.ParamCount())
	return t.rows.set.Memory() + 2*rowBytes*int64(len(t.rows.list)) + weights*int64(4+t.config.Batch/fit.ShardRows), 5 * weights
}

// Header returns the header of the model.
func (t *Training) Header() model.Header {
	h := model.Header{
		Kind: model.SL, Mode: t.config.Mode, Variant: t.config.Variant, Encoding: t.config.Encoding, Labels: t.rows.labels,
		Seed: t.config.Seed, Defects: t.config.Defects,
	}
	t.net.Describe(&h)
	return h
}

// stepBatches is the maximal number of batches in a step.
const stepBatches = 256

// Step trains on the next stepBatches batches, or on fewer at the end of an epoch. If ctx ends, it stops before the
// next batch and returns the error of ctx.
func (t *Training) Step(ctx context.Context) error {
	// The order of an epoch depends only on that of the split, so that a resumed training has the same one.
	for ; t.shuffledEpochs <= t.progress.Epoch; t.shuffledEpochs++ {
		run.Shuffle(t.train, rules.NewRand(run.DeriveSeed(t.config.Seed, "epoch", t.shuffledEpochs)))
	}
	for n := 0; n < stepBatches && t.progress.Row < len(t.train); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := t.train[t.progress.Row:min(len(t.train), t.progress.Row+t.config.Batch)]
		loss := t.trainer.Step(len(batch), func(worker, i int, s *fit.Sample) { t.fillers[worker].fillSample(batch[i], s) })
		t.progress.Loss += loss * float64(len(batch))
		t.progress.Row += len(batch)
	}
	if t.progress.Row == len(t.train) {
		t.progress.Epoch, t.progress.Row = t.progress.Epoch+1, 0
	}
	return nil
}

func (t *Training) Save(w io.Writer) error { return t.trainer.Save(w, t.progress) }

func (t *Training) Load(r io.Reader) error { return t.trainer.Load(r, &t.progress) }
