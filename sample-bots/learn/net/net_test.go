package net

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules"
)

func newNet(t testing.TB, out Output, sizes ...int) *Net {
	t.Helper()
	n := kit.Get[*Net](t)(New(sizes, out))
	n.Randomize(rules.NewRand(1))
	return n
}

func uniform(r *rules.Rand) float64 { return float64(r.Uint64()>>11)/(1<<52) - 1 }

// loss returns the summed loss of samples, in passes forward only, and which units are rectified
// to 0.
func loss(n *Net, samples []Sample) (loss float64, zeros string) {
	p := n.newPart()
	copy(p.samples, samples)
	n.forward(p, len(samples))
	for _, act := range p.acts[:len(p.acts)-1] {
		for _, x := range act {
			zeros += fmt.Sprint(x > 0, " ")
		}
	}
	return n.errors(p, len(samples)), zeros
}

// The gradients of every weight and bias are those of finite differences.
func TestGradients(t *testing.T) {
	for _, out := range []Output{Softmax, Sigmoid, Linear} {
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
					samples[i].Class = r.Below(4)
					if i%2 == 0 {
						samples[i].Want = []float32{0.2, 0.1, 0.6, 0.1}
					}
				}
				p := n.newPart()
				copy(p.samples, samples)
				n.gradient(p, len(samples))
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

// A net of two hidden layers learns which quarter of a plane a point is in, and a linear output
// learns the product of two numbers.
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
	n := newNet(t, Softmax, 2, 16, 8, 4)
	train(t, n, steps, batch, func(s *Sample) { quarter(s, r) })
	right, w := 0, n.NewWork()
	for range 1000 {
		var s Sample
		quarter(&s, r)
		if out := n.ForwardSample(w, &s); slices.Index(out, slices.Max(out)) == s.Class {
			right++
		}
	}
	if right < 970 {
		t.Errorf("%d of 1000 points are in the right quarter", right)
	}

	product := newNet(t, Linear, 2, 24, 12, 1)
	end := train(t, product, steps, batch, func(s *Sample) {
		x, y := uniform(r), uniform(r)
		s.Add(0, float32(x))
		s.Add(1, float32(y))
		s.Want = []float32{float32(x * y)}
	})
	if end > 0.005 { // half the mean squared error; that of always 0 is 1/18
		t.Errorf("the product's loss is %v", end)
	}
}

// train returns the mean loss of the last hundred steps.
func train(t *testing.T, n *Net, steps, batch int, sample func(*Sample)) (mean float64) {
	t.Helper()
	adam := DefaultAdam
	adam.Rate = 0.005
	trainer := kit.Get[*Trainer](t)(NewTrainer(n, adam, 1))
	for i := range steps {
		l := trainer.Step(batch, func(_, _ int, s *Sample) { sample(s) })
		if i >= steps-100 {
			mean += l / 100
		}
	}
	return mean
}

// The number of workers does not change a bit of the net.
func TestWorkersRaced(t *testing.T) {
	var first *Net
	for _, workers := range []int{1, 2, 5} {
		n := newNet(t, Softmax, 30, 20, 10)
		trainer := kit.Get[*Trainer](t)(NewTrainer(n, DefaultAdam, workers))
		for step := range 30 {
			trainer.Step(90, func(_, i int, s *Sample) {
				r := rules.NewRand(uint64(step*90 + i))
				for k := range 30 {
					s.Add(k, float32(uniform(r)))
				}
				s.Class = i % 10
			})
		}
		if first == nil {
			first = n
		} else if !first.Equal(n) {
			t.Errorf("with %d workers the net differs", workers)
		}
	}
}

// Dense, sparse and binary inputs, and those added one by one, give the same outputs, and those of
// arithmetic in float64.
func TestForward(t *testing.T) {
	n := newNet(t, Softmax, 12, 7, 5, 3)
	rapid.Check(t, func(t *rapid.T) {
		ones := rapid.SliceOfNDistinct(rapid.Uint16Range(0, 11), 0, 12, rapid.ID[uint16]).Draw(t, "ones")
		slices.Sort(ones)
		dense := make([]float32, 12)
		var s Sample
		for _, i := range ones {
			dense[i] = 1
			s.Add(int(i), 1)
		}
		w := n.NewWork()
		want := naive(n, dense)
		for name, out := range map[string][]float32{
			"dense": slices.Clone(n.Forward(w, dense)), "bits": slices.Clone(n.ForwardBits(w, ones)), "sparse": slices.Clone(n.ForwardSample(w, &s)),
		} {
			for i, x := range out {
				if math.Abs(float64(x)-want[i]) > 1e-5 {
					t.Fatalf("%s: output %d is %v, not %v", name, i, x, want[i])
				}
			}
		}
	})
}

func naive(n *Net, in []float32) []float64 {
	from := make([]float64, len(in))
	for i, x := range in {
		from[i] = float64(x)
	}
	for k, genes := range n.Genes() {
		units := n.Sizes[k+1]
		to := make([]float64, units)
		for j := range to {
			to[j] = float64(genes[n.Sizes[k]*units+j])
			for i, x := range from {
				to[j] += x * float64(genes[i*units+j])
			}
			if k < len(n.Genes())-1 {
				to[j] = max(0, to[j])
			}
		}
		from = to
	}
	sum := 0.0
	for i, x := range from {
		from[i] = math.Exp(x)
		sum += from[i]
	}
	for i := range from {
		from[i] /= sum
	}
	return from
}

func TestForwardAllocatesNothing(t *testing.T) {
	n := newNet(t, Softmax, 12, 7, 3)
	w, in := n.NewWork(), make([]float32, 12)
	in[3] = 1
	if allocs := testing.AllocsPerRun(100, func() { n.Forward(w, in) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		sizes []int
		out   Output
		want  string
	}{
		{[]int{3}, Softmax, `layers "3"`},
		{[]int{3, 0}, Softmax, `layers "3-0"`},
		{[]int{3, MaxUnits + 1}, Softmax, `"3-4097"`},
		{make([]int, MaxLayers+2), Softmax, "1 to 8 layers"},
		{[]int{3, 2}, "tanh", `"tanh"`},
	} {
		if _, err := New(test.sizes, test.out); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v %s: %v", test.sizes, test.out, err)
		}
	}
	for _, rate := range []float64{0, -1, 2, math.NaN()} {
		if _, err := NewTrainer(newNet(t, Softmax, 2, 2), Adam{Rate: rate}, 1); err == nil {
			t.Errorf("a rate of %v is possible", rate)
		}
	}
}

// BenchmarkStep trains on batches of 32 rows with the inputs of Brisca with two players.
func BenchmarkStep(b *testing.B) {
	n := newNet(b, Softmax, 56, 50, 25, 80)
	t := kit.Get[*Trainer](b)(NewTrainer(n, DefaultAdam, 1))
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

// Outputs of which nothing is wanted count for no loss, and their weights stay as they are.
func TestAny(t *testing.T) {
	n := newNet(t, Linear, 3, 4, 2)
	trainer := kit.Get[*Trainer](t)(NewTrainer(n, DefaultAdam, 1))
	before := n.Clone().Genes()[1]
	loss := trainer.Step(5, func(_, i int, s *Sample) {
		s.Add(i%3, 1)
		s.Want = []float32{Any, n.Forward(n.NewWork(), []float32{0, 0, 0})[1] + 100}
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

func TestParseSizes(t *testing.T) {
	if got, err := ParseSizes("50-25"); err != nil || !slices.Equal(got, []int{50, 25}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "50-", "0", "x", "-5", "5000"} {
		if _, err := ParseSizes(text); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
