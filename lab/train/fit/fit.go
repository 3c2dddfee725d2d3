// Package fit trains neural networks with Adam (Kingma and Ba, 2015). Begin with NetTrainer.
package fit

import (
	"io"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// ShardRows is the number of rows that pass through a net together. A row is an input with its target. The
// gradients of these groups are summed in order, so that the number of workers does not change the result.
const ShardRows = 16

// Sample is one row from which a net learns: the inputs with the wanted class or the wanted outputs.
type Sample struct {
	net.Inputs
	Class   int       // wanted class, if the output is a softmax
	Targets []float32 // wanted outputs of other nets; NoTarget for outputs to ignore
}

// NoTarget is a value in Sample.Targets which says that the net learns nothing from this output.
var NoTarget = float32(math.Inf(1))

// The parameters of Adam. All values are those of the paper (Kingma and Ba, 2015) except epsilon, which is
// that of Keras.
const (
	DefaultRate = 0.001
	beta1       = 0.9
	beta2       = 0.999
	epsilon     = 1e-7
)

// NetTrainer trains a net with Adam. The loss is the mean cross-entropy if the output is a softmax or a
// sigmoid, and half the mean squared error if it is linear.
type NetTrainer struct {
	Net     *net.Net
	Rate    float64 // learning rate of the next steps
	workers int
	steps   int            // number of batches so far
	moments [2][][]float32 // first and second moments of the gradients, by layer
	shards  []*shard
}

// NewRandomTrainer returns a trainer of a new net with random weights, which depend on seed. sizes has the sizes of
// the layers, out is the kind of output, and rate the learning rate. The trainer uses the given number of
// goroutines. It is an error if the sizes are not valid.
func NewRandomTrainer(sizes []int, out net.Output, rate float64, seed uint64, workers int) (*NetTrainer, error) {
	n, err := net.New(sizes, out)
	if err != nil {
		return nil, err
	}
	n.Randomize(rules.NewRand(run.DeriveSeed(seed, "weights", 0)))
	return NewTrainer(n, rate, workers), nil
}

// NewTrainer returns a trainer with the given learning rate for n. The trainer changes the weights of n. It uses
// the given number of goroutines; the result does not depend on this number.
func NewTrainer(n *net.Net, rate float64, workers int) *NetTrainer {
	return &NetTrainer{Net: n, Rate: rate, workers: max(1, workers), moments: [2][][]float32{zeros(n), zeros(n)}}
}

func zeros(n *net.Net) (list [][]float32) {
	for _, genes := range n.Genes() {
		list = append(list, make([]float32, len(genes)))
	}
	return list
}

// state is the first line of a checkpoint of a NetTrainer.
type state struct {
	Steps    int `json:"steps"` // batches so far
	Progress any `json:"progress"`
}

// Save writes a checkpoint to w: first the value progress of the caller as JSON, then the weights and the moments
// of Adam.
func (t *NetTrainer) Save(w io.Writer, progress any) error {
	if err := run.WriteState(w, state{t.steps, progress}); err != nil {
		return err
	}
	return t.forEachVector(func(x []float32) error { return model.WriteFloats(w, x) })
}

// Load restores the trainer and the weights of its net from a checkpoint. progress must be a pointer. Load decodes
// the value that the caller passed to Save into it.
func (t *NetTrainer) Load(r io.Reader, progress any) error {
	at := state{Progress: progress}
	b, err := run.ReadState(r, &at)
	if err != nil {
		return err
	}
	t.steps = at.Steps
	return t.forEachVector(func(x []float32) error { return model.ReadFloats(b, x) })
}

// forEachVector calls do for every vector of a checkpoint: the weights, then the moments of Adam. It stops at the
// first error and returns it.
func (t *NetTrainer) forEachVector(do func(x []float32) error) error {
	for _, list := range [][][]float32{t.Net.Genes(), t.moments[0], t.moments[1]} {
		for _, x := range list {
			if err := do(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// shard is a group of rows (inputs with targets) that pass through the net together, with their gradients.
type shard struct {
	samples []Sample
	acts    [][]float32 // by layer: outputs after the activation, row by row
	deltas  [][]float32 // by layer: derivatives of the loss by the weighted sums, row by row
	grads   [][]float32
	loss    float64
}

func newShard(n *net.Net) *shard {
	p := &shard{samples: make([]Sample, ShardRows), grads: zeros(n)}
	for _, size := range n.Sizes[1:] {
		p.acts = append(p.acts, make([]float32, ShardRows*size))
		p.deltas = append(p.deltas, make([]float32, ShardRows*size))
	}
	return p
}

// Step trains the net with a batch of size rows, and returns the mean loss of the rows before the training. It
// calls fill to set s to row i. Several goroutines may call fill at once; worker is the number of the goroutine.
func (t *NetTrainer) Step(size int, fill func(worker, i int, s *Sample)) float64 {
	n := (size + ShardRows - 1) / ShardRows
	for len(t.shards) < n {
		t.shards = append(t.shards, newShard(t.Net))
	}
	run.ForEach(t.workers, n, func(worker, k int) {
		p := t.shards[k]
		rows := min(ShardRows, size-k*ShardRows)
		for i := range rows {
			s := &p.samples[i]
			s.Reset()
			fill(worker, k*ShardRows+i, s)
		}
		gradient(t.Net, p, rows)
	})
	loss := 0.0
	for _, p := range t.shards[:n] {
		loss += p.loss
	}
	t.update(n, size)
	return loss / float64(size)
}

// updatePieces is the number of parts into which the weights are divided, to update them in parallel.
const updatePieces = 4

// update sums up the gradients of the first shards and updates the weights once. The argument shards is their
// number, and size the number of rows in them.
func (t *NetTrainer) update(shards, size int) {
	t.steps++
	scale := float32(1 / float64(size))
	rate := t.Rate * math.Sqrt(1-math.Pow(beta2, float64(t.steps))) / (1 - math.Pow(beta1, float64(t.steps)))
	run.ForEach(min(t.workers, updatePieces), updatePieces, func(_, piece int) {
		for k, genes := range t.Net.Genes() {
			from, to := piece*len(genes)/updatePieces, (piece+1)*len(genes)/updatePieces
			sum := t.shards[0].grads[k][from:to]
			for _, p := range t.shards[1:shards] {
				axpy(1, p.grads[k][from:to], sum)
			}
			adam(genes[from:to], sum, t.moments[0][k][from:to], t.moments[1][k][from:to], scale, float32(rate))
		}
	})
}

// adam makes a step of Adam. It multiplies the gradients in grads by scale, and then updates the weights in genes
// and the moments in first and second. rate must include the bias correction of the moments.
func adam(genes, grads, first, second []float32, scale, rate float32) {
	const b1, b2 = float32(beta1), float32(beta2)
	const c1, c2 = 1 - b1, 1 - b2
	grads, first, second = grads[:len(genes)], first[:len(genes)], second[:len(genes)]
	for i := range genes {
		g := grads[i] * scale
		m := b1*first[i] + c1*g
		v := b2*second[i] + c2*g*g
		first[i], second[i] = m, v
		genes[i] -= rate * m / (float32(math.Sqrt(float64(v))) + float32(epsilon))
	}
}

// gradient computes the loss of the first rows of p, and its derivatives with respect to the weights of n. It
// stores the sums over these rows in p. The argument rows is their number.
func gradient(n *net.Net, p *shard, rows int) {
	forward(n, p, rows)
	last := len(n.Genes()) - 1
	p.loss = outputDeltas(n, p, rows)
	for k := last; k >= 0; k-- {
		clear(p.grads[k])
		in, out := n.Sizes[k], n.Sizes[k+1]
		weights, _ := n.Layer(k)
		delta := p.deltas[k][:rows*out]
		gw, gb := p.grads[k][:in*out], p.grads[k][in*out:]
		for i := range rows {
			axpy(1, delta[i*out:(i+1)*out], gb)
		}
		if k == 0 {
			for i := range rows {
				row := delta[i*out : (i+1)*out]
				for j, input := range p.samples[i].Index {
					axpy(p.samples[i].Value[j], row, gw[int(input)*out:(int(input)+1)*out])
				}
			}
			return
		}
		act, before := p.acts[k-1][:rows*in], p.deltas[k-1][:rows*in]
		kernel.Sgemm(blas.Trans, blas.NoTrans, in, out, rows, 1, act, in, delta, out, 1, gw, out)
		kernel.Sgemm(blas.NoTrans, blas.Trans, rows, in, out, 1, delta, out, weights, out, 0, before, in)
		for i, x := range act {
			if x <= 0 {
				before[i] = 0
			}
		}
	}
}

// forward computes the outputs of every layer of n for the first rows of p, and stores them in p.acts. The argument
// rows is the number of these rows.
func forward(n *net.Net, p *shard, rows int) {
	for k := range n.Genes() {
		in, out := n.Sizes[k], n.Sizes[k+1]
		weights, b := n.Layer(k)
		act := p.acts[k][:rows*out]
		for i := range rows {
			copy(act[i*out:], b)
		}
		if k > 0 {
			kernel.Sgemm(blas.NoTrans, blas.NoTrans, rows, out, in, 1, p.acts[k-1][:rows*in], in, weights, out, 1, act, out)
		} else {
			for i := range rows {
				row := act[i*out : (i+1)*out]
				for j, input := range p.samples[i].Index {
					axpy(p.samples[i].Value[j], n.InputWeights(int(input)), row)
				}
			}
		}
		if k < len(n.Genes())-1 {
			for i, x := range act {
				act[i] = max(x, 0)
			}
			continue
		}
		for i := range rows {
			n.Activate(act[i*out : (i+1)*out])
		}
	}
}

// logOffset is added to the argument of logarithms to keep them finite.
const logOffset = 1e-12

// outputDeltas computes the derivatives of the loss with respect to the weighted sums of the last layer, and stores
// them in p.deltas. It does so for the first rows of p, and returns the sum of the losses of these rows. The
// argument rows is their number.
func outputDeltas(n *net.Net, p *shard, rows int) (loss float64) {
	last := len(n.Genes()) - 1
	out := n.Sizes[last+1]
	copy(p.deltas[last], p.acts[last][:rows*out])
	for i := range rows {
		s := &p.samples[i]
		row := p.deltas[last][i*out : (i+1)*out]
		if n.Output == net.Softmax {
			loss -= math.Log(float64(row[s.Class]) + logOffset)
			row[s.Class] -= 1
			continue
		}
		for j, want := range s.Targets {
			if want == NoTarget {
				row[j] = 0
				continue
			}
			loss -= negatedLoss(n, row[j], want)
			row[j] -= want
		}
	}
	return loss
}

// negatedLoss returns the loss of one output, multiplied by -1. x is the output, and want its target. It is for
// nets whose output is not a softmax.
func negatedLoss(n *net.Net, x, want float32) float64 {
	if n.Output == net.Sigmoid {
		return float64(want)*math.Log(float64(x)+logOffset) + float64(1-want)*math.Log(1-float64(x)+logOffset)
	}
	return -float64(x-want) * float64(x-want) / 2
}

var kernel gonum.Implementation

func axpy(a float32, x, y []float32) { kernel.Saxpy(len(x), a, x, 1, y, 1) }
