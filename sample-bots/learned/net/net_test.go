package net

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

func newNet(t testing.TB, out Output, sizes ...int) *Net {
	t.Helper()
	n := kit.Get[*Net](t)(New(sizes, out))
	n.Randomize(rules.NewRand(1))
	return n
}

// TestForward checks that outputs agree with arithmetic in float64, for inputs in any order.
func TestForward(t *testing.T) {
	n := newNet(t, Softmax, 12, 7, 5, 3)
	rapid.Check(t, func(t *rapid.T) {
		ones := rapid.SliceOfNDistinct(rapid.IntRange(0, 11), 0, 12, rapid.ID[int]).Draw(t, "ones")
		dense := make([]float32, 12)
		var in Inputs
		for i, input := range ones {
			dense[input] = float32(i+1) / 4
			in.Add(input, dense[input])
		}
		want := naive(n, dense)
		for i, x := range n.Forward(n.NewWorkspace(), &in) {
			if math.Abs(float64(x)-want[i]) > 1e-5 {
				t.Fatalf("output %d is %v, not %v", i, x, want[i])
			}
		}
	})
}

// TestSum checks that OutputSum returns the output of a unit, also in a net of a single layer.
func TestSum(t *testing.T) {
	for _, sizes := range [][]int{{12, 3}, {12, 7, 3}, {12, 7, 5, 3}} {
		n := newNet(t, Linear, sizes...)
		w, in := n.NewWorkspace(), &Inputs{Index: []uint16{3, 8}, Value: []float32{1, 0.5}}
		for unit, want := range slices.Clone(n.Forward(w, in)) {
			if got := n.OutputSum(n.HiddenOutputs(w), unit); math.Abs(float64(got-want)) > 1e-5 {
				t.Errorf("%v: the sum of unit %d is %v, its output %v", sizes, unit, got, want)
			}
		}
	}
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
	w, in := n.NewWorkspace(), &Inputs{Index: []uint16{3}, Value: []float32{1}}
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
		{[]int{MaxUnits, MaxUnits, MaxUnits, 3}, Softmax, "they have 33574915 weights and biases, and at most 33554432 are possible"},
		{[]int{3, 2}, "tanh", `"tanh"`},
	} {
		if _, err := New(test.sizes, test.out); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v %s: %v", test.sizes, test.out, err)
		}
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
