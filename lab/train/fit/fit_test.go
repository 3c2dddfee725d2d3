//go:build !race || slowrace

package fit

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// loss returns the summed loss of samples, computed only by forward passes, and a text with the units whose output
// is 0.
func loss(n *net.Net, samples []Sample) (loss float64, zeros string) {
	p := newShard(n)
	copy(p.samples, samples)
	forward(n, p, len(samples))
	for _, act := range p.acts[:len(p.acts)-1] {
		for _, x := range act {
			zeros += fmt.Sprint(x > 0, " ")
		}
	}
	return outputDeltas(n, p, len(samples)), zeros
}

// TestGradients compares the gradients of all weights and biases with finite differences.
func TestGradients(t *testing.T) {
	for _, out := range []net.Output{net.Softmax, net.Sigmoid, net.Linear} {
		for _, sizes := range [][]int{{7, 4}, {7, 6, 4}, {7, 9, 5, 4}} {
			t.Run(fmt.Sprint(out, sizes), func(t *testing.T) {
				n, r := newNet(t, out, sizes...), rules.NewRand(2)
				for k, genes := range n.Genes() {
					for i := sizes[k] * sizes[k+1]; i < len(genes); i++ {
						genes[i] = float32(uniform(r)) / 4 // a bias
					}
				}
				samples := make([]Sample, 5)
				for i := range samples {
					for input := range 7 {
						if r.Below(3) > 0 {
							samples[i].Add(input, float32(uniform(r)))
						}
					}
					samples[i].Class, samples[i].Targets = r.Below(4), []float32{0.2, 0.1, 0.6, 0.1}
				}
				p := newShard(n)
				copy(p.samples, samples)
				gradient(n, p, len(samples))
				all, compared := 0, 0
				for k, genes := range n.Genes() {
					for i := range genes {
						const step = 1.0 / 1024
						was := genes[i]
						genes[i] = was + step
						above, zeros := loss(n, samples)
						genes[i] = was - step
						below, others := loss(n, samples)
						genes[i] = was
						if all++; zeros != others {
							continue // the loss has a kink between them
						}
						compared++
						want := (above - below) / (2 * step)
						if got := float64(p.grads[k][i]); math.Abs(got-want) > 2e-3*(1+math.Abs(want)) {
							t.Fatalf("layer %d, weight %d: %v, by differences %v", k, i, got, want)
						}
					}
				}
				if compared < all*9/10 {
					t.Errorf("only %d of %d weights are compared", compared, all)
				}
			})
		}
	}
}

// TestLearnsFunctions checks that a net with two hidden layers learns which quarter of a plane a point is
// in, and that a net with linear output learns the product of two numbers.
func TestLearnsFunctions(t *testing.T) {
	const steps, batch = 1500, 64
	r := rules.NewRand(3)
	quarter := func(s *Sample, r *rules.Rand) {
		x, y := uniform(r), uniform(r)
		s.Add(0, float32(x))
		s.Add(1, float32(y))
		s.Class = 0
		if x > 0 {
			s.Class++
		}
		if y > 0 {
			s.Class += 2
		}
	}
	n := newNet(t, net.Softmax, 2, 16, 8, 4)
	train(t, n, steps, batch, func(s *Sample) { quarter(s, r) })
	right, w := 0, n.NewWorkspace()
	for range 1000 {
		var s Sample
		quarter(&s, r)
		if out := n.Forward(w, &s.Inputs); slices.Index(out, slices.Max(out)) == s.Class {
			right++
		}
	}
	if right < 970 {
		t.Errorf("%d of 1000 points are in the right quarter", right)
	}

	product := newNet(t, net.Linear, 2, 24, 12, 1)
	end := train(t, product, steps, batch, func(s *Sample) {
		x, y := uniform(r), uniform(r)
		s.Add(0, float32(x))
		s.Add(1, float32(y))
		s.Targets = []float32{float32(x * y)}
	})
	if end > 0.005 { // half the mean squared error; that of always 0 is 1/18
		t.Errorf("the product's loss is %v", end)
	}
}

// train trains a net and returns the mean loss of the last hundred steps.
func train(t *testing.T, n *net.Net, steps, batch int, sample func(*Sample)) (mean float64) {
	t.Helper()
	trainer := NewTrainer(n, 0.005, 1)
	for i := range steps {
		l := trainer.Step(batch, func(_, _ int, s *Sample) { sample(s) })
		if i >= steps-100 {
			mean += l / 100
		}
	}
	return mean
}

// BenchmarkStep measures batches of 32 rows with the inputs of Brisca for two players.
func BenchmarkStep(b *testing.B) {
	n := newNet(b, net.Softmax, 56, 50, 25, 80)
	t := NewTrainer(n, DefaultRate, 1)
	const batch = 32
	for b.Loop() {
		t.Step(batch, func(_, i int, s *Sample) {
			for k := range 10 {
				s.Add(k*5+i%5, 0.5)
			}
			s.Class = i
		})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/row")
}

// TestAny checks that outputs without a target contribute no loss and that their weights do not change.
func TestAny(t *testing.T) {
	n := newNet(t, net.Linear, 3, 4, 2)
	trainer := NewTrainer(n, DefaultRate, 1)
	before := n.Clone().Genes()[1]
	loss := trainer.Step(5, func(_, i int, s *Sample) {
		s.Add(i%3, 1)
		s.Targets = []float32{NoTarget, n.Forward(n.NewWorkspace(), new(net.Inputs))[1] + 100}
	})
	after := n.Genes()[1]
	for i := range after { // rows of two weights, and the biases
		if changed := after[i] != before[i]; changed && i%2 == 0 {
			t.Errorf("weight %d has changed from %v to %v", i, before[i], after[i])
		}
	}
	if after[len(after)-1] == before[len(before)-1] || math.IsInf(loss, 0) || loss < 1000 {
		t.Errorf("what is wanted is not learned: loss %v", loss)
	}
}
