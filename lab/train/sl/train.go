package sl

import (
	"context"
	"fmt"
	"io"

	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// The parts of the rows that validate and that test, in hundredths; the others train.
const (
	validatePart = 10
	testPart     = 10
)

// Training is a net in training.
type Training struct {
	Config  Config
	Workers int
	Done    func(rows, all int) // after some rows, one call at a time; nil for none

	rows     *Rows
	train    []row
	validate []row
	test     []row
	net      *net.Net
	trainer  *fit.Trainer
	fillers  []filler
	at       place
	order    int // the epoch that the training rows are in the order of, by 1
}

// place is how far a training is.
type place struct {
	Epoch int     `json:"epoch"`
	Row   int     `json:"row"`   // of the epoch
	Loss  float64 `json:"loss"`  // summed over the rows of the epoch
	Steps int     `json:"steps"` // batches in all
}

// Result is what a training came to.
type Result struct {
	Train    int     `json:"train"` // rows
	Classes  int     `json:"classes"`
	Weights  int     `json:"weights"`
	Validate Metrics `json:"validate"` // after the last epoch
	Test     Metrics `json:"test"`
}

// NewTraining prepares the rows and a net with random weights.
func NewTraining(ctx context.Context, c Config, rows *Rows, workers int) (*Training, error) {
	t := &Training{Config: c, Workers: workers, rows: rows}
	list := append([]row(nil), rows.list...)
	shuffle(list, run.Derive(c.Seed, "split", 0))
	validate, test := len(list)*validatePart/100, len(list)*testPart/100
	t.train, list = list[:len(list)-validate-test], list[len(list)-validate-test:]
	t.validate, t.test = list[:validate], list[validate:]
	if validate == 0 || test == 0 {
		return nil, fmt.Errorf("the data set has %d decisions: too few to validate and test", len(rows.list))
	}
	out, outputs := net.Softmax, len(rows.labels)
	if c.Variant == WL {
		out, outputs = net.Sigmoid, 1
	}
	sizes := append(append([]int{rows.encoder.Inputs()}, c.Hidden...), outputs)
	var err error
	if t.net, err = net.New(sizes, out); err != nil {
		return nil, err
	}
	t.net.Randomize(rules.NewRand(run.Derive(c.Seed, "weights", 0)))
	adam := fit.DefaultAdam
	adam.Rate = c.Rate
	if t.trainer, err = fit.NewTrainer(t.net, adam, workers); err != nil {
		return nil, err
	}
	for range workers {
		t.fillers = append(t.fillers, rows.filler())
	}
	return t, nil
}

// Run trains in the directory of a run, from its checkpoint on, and writes the model. When the
// context ends it writes a checkpoint.
func (t *Training) Run(ctx context.Context, f *run.Folder) (*Result, error) {
	if _, err := f.Load(t.load); err != nil {
		return nil, err
	}
	for t.at.Epoch < t.Config.Epochs {
		if err := t.epoch(ctx); err != nil {
			return nil, f.Interrupted(err, t.save)
		}
		m := t.measure(t.validate)
		err := f.Metrics(t.at.Epoch, run.Value{Name: "loss", X: t.at.Loss / float64(len(t.train))}, run.Value{Name: "validation_loss", X: m.Loss},
			run.Value{Name: "accuracy", X: m.Accuracy}, run.Value{Name: "precision", X: m.Precision}, run.Value{Name: "recall", X: m.Recall})
		if err != nil {
			return nil, err
		}
		t.at.Row, t.at.Loss = 0, 0
		if err := f.Checkpoint(t.save); err != nil {
			return nil, err
		}
	}
	return t.finish(f)
}

// finish tests the net and writes the files of the end.
func (t *Training) finish(f *run.Folder) (*Result, error) {
	r := &Result{Train: len(t.train), Classes: t.net.Sizes[len(t.net.Sizes)-1], Weights: t.net.Params(), Validate: t.measure(t.validate), Test: t.measure(t.test)}
	if err := f.Model(t.Header(), t.net.Write); err != nil {
		return nil, err
	}
	if err := f.Plot("loss", "mean loss of a row", "epoch", "cross-entropy", "loss", "validation_loss"); err != nil {
		return nil, err
	}
	if err := f.Plot("validation", "validation rows", "epoch", "share", "accuracy", "precision", "recall"); err != nil {
		return nil, err
	}
	return r, f.Result(r)
}

// Header returns the header of the model.
func (t *Training) Header() model.Header {
	h := model.Header{Kind: model.SL, Mode: t.Config.Mode, Variant: t.Config.Variant, Encoding: t.Config.Encoding, Labels: t.rows.labels, Seed: t.Config.Seed, Defects: t.Config.Defects}
	t.net.Describe(&h)
	return h
}

// epoch trains with the rest of the rows of an epoch.
func (t *Training) epoch(ctx context.Context) error {
	if t.order != t.at.Epoch+1 {
		// The order of an epoch follows from that of the split alone, so that a resumed
		// training has it as well.
		for ; t.order <= t.at.Epoch; t.order++ {
			shuffle(t.train, run.Derive(t.Config.Seed, "epoch", t.order))
		}
	}
	for t.at.Row < len(t.train) {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := t.train[t.at.Row:min(len(t.train), t.at.Row+t.Config.Batch)]
		loss := t.trainer.Step(len(batch), func(worker, i int, s *fit.Sample) { t.fillers[worker].fill(batch[i], s) })
		t.at.Loss += loss * float64(len(batch))
		t.at.Row += len(batch)
		t.at.Steps++
		if t.Done != nil && t.at.Steps%tell == 0 {
			t.Done(t.at.Epoch*len(t.train)+t.at.Row, t.Config.Epochs*len(t.train))
		}
	}
	t.at.Epoch++
	return nil
}

// tell is how many batches lie between two calls of Done.
const tell = 256

// save writes a checkpoint: a line of JSON, then the weights and the moments.
func (t *Training) save(w io.Writer) error {
	if err := run.WriteState(w, t.at); err != nil {
		return err
	}
	return t.trainer.Save(w)
}

// load reads what save wrote.
func (t *Training) load(r io.Reader) error {
	b, err := run.ReadState(r, &t.at)
	if err != nil {
		return err
	}
	return t.trainer.Load(b, t.at.Steps)
}
