package sl

import (
	"context"
	"math"

	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned"
)

// Metrics has the results of a net on test or validation rows. A row is one decision of a game; the net predicts its
// class, such as the points of the trick. Exact, Precision and Recall are computed as in Keras and R. Arjonilla's
// bachelor's thesis (UOC, 2024): the net predicts a class if it gives the class a probability above 1/2. Shares are
// from 0 to 1.
type Metrics struct {
	Rows      int     `json:"rows"`
	Loss      float64 `json:"loss"`      // mean cross-entropy of a row
	Accuracy  float64 `json:"accuracy"`  // share of rows whose most probable class is correct
	Exact     float64 `json:"exact"`     // share of outputs that equal their targets, 0 or 1; Keras and the thesis call it accuracy
	Precision float64 `json:"precision"` // share of predicted classes that are correct
	Recall    float64 `json:"recall"`    // share of correct classes that are predicted
}

// counts has the sums from which Metrics are computed.
type counts struct {
	loss                                                float64
	correct, exact, predictions, truePositives, outputs int
}

// pieceRows is the number of rows that a worker evaluates at a time.
const pieceRows = 4096

func (t *Training) measure(list []row) Metrics {
	var sum counts
	positives := len(list)
	if t.config.Variant == VariantWL {
		positives = 0
		for _, at := range list {
			positives += int(at.class)
		}
	}
	// It is short, so it does not stop when the context ends.
	run.BuildInOrder(context.Background(), t.workers, 0, (len(list)+pieceRows-1)/pieceRows, func(worker, k int) (counts, error) {
		return t.countRows(worker, list[k*pieceRows:min(len(list), (k+1)*pieceRows)]), nil
	}, func(_ int, c counts) error {
		sum.loss += c.loss
		sum.correct, sum.exact, sum.outputs = sum.correct+c.correct, sum.exact+c.exact, sum.outputs+c.outputs
		sum.predictions, sum.truePositives = sum.predictions+c.predictions, sum.truePositives+c.truePositives
		return nil
	})
	return Metrics{
		Rows: len(list), Loss: sum.loss / float64(len(list)), Accuracy: share(sum.correct, len(list)), Exact: share(sum.exact, sum.outputs),
		Precision: share(sum.truePositives, sum.predictions), Recall: share(sum.truePositives, positives),
	}
}

func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (t *Training) countRows(worker int, list []row) (c counts) {
	w := t.net.NewWorkspace()
	var s fit.Sample
	var chances [2]float32 // for VariantWL, by class
	for _, at := range list {
		s.Reset()
		t.fillers[worker].fillSample(at, &s)
		out := t.net.Forward(w, &s.Inputs)
		c.outputs += len(out)
		c.exact += countExact(out, &s)
		if t.rows.labels == nil {
			chances = [2]float32{1 - out[0], out[0]}
			out = chances[:]
		}
		class := int(at.class)
		best := learned.MostProbable(out)
		c.loss -= math.Log(float64(out[class]) + 1e-12)
		if best == class {
			c.correct++
		}
		// At most one class has a probability above 1/2. For VariantWL only a predicted win counts.
		if out[best] > 0.5 && (t.rows.labels != nil || best == winClass) {
			c.predictions++
			if best == class {
				c.truePositives++
			}
		}
	}
	return c
}

// countExact returns how many outputs of a net are exactly equal to their targets in s, which are 0 or 1. Like
// TensorFlow, it treats an output below 2^-126, the smallest normal float32, as 0.
func countExact(out []float32, s *fit.Sample) (n int) {
	const smallestNormal = 0x1p-126
	for i, x := range out {
		target := float32(0)
		if s.Targets != nil {
			target = s.Targets[i]
		} else if i == s.Class {
			target = 1
		}
		if x == target || target == 0 && x < smallestNormal {
			n++
		}
	}
	return n
}
