// Package net implements dense neural networks of float32 with ReLU layers. Forward passes do not allocate,
// and the weights are flat arrays. Begin with Net.Forward.
package net

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// Limits for a net.
const (
	MaxLayers = 8
	MaxUnits  = 4096 // in a layer
	// MaxParams is the largest number of weights and biases of all layers together.
	MaxParams = 1 << 25
)

// Output is the function that a net applies to the sums of its last layer.
type Output string

const (
	Softmax Output = "softmax" // probabilities of classes
	Sigmoid Output = "sigmoid" // an independent probability for each unit
	Linear  Output = "linear"  // the sums themselves
)

// Net is a dense neural net. Layer k, counted from 0, has Sizes[k] inputs and Sizes[k+1] units. The units apply
// max(0, x) to their sums, except in the last layer, which applies Output.
type Net struct {
	Sizes  []int
	Output Output
	layers [][]float32
}

var kernel gonum.Implementation

// New returns a net whose weights are all 0. sizes has the number of inputs, then of the units of each layer.
// It returns an error if sizes or out is invalid.
func New(sizes []int, out Output) (*Net, error) {
	if err := CheckSizes(sizes); err != nil {
		return nil, err
	}
	switch out {
	case Softmax, Sigmoid, Linear:
	default:
		return nil, fmt.Errorf("net: output cannot be %q: try %s, %s or %s", string(out), Softmax, Sigmoid, Linear)
	}
	n := &Net{Sizes: append([]int(nil), sizes...), Output: out}
	for k := range len(sizes) - 1 {
		n.layers = append(n.layers, make([]float32, (sizes[k]+1)*sizes[k+1]))
	}
	return n, nil
}

// CheckSizes returns an error if no net can have layers of these sizes: there must be 1 to MaxLayers layers with 1
// to MaxUnits units each, and at most MaxParams weights and biases.
func CheckSizes(sizes []int) error {
	if len(sizes) < 2 || len(sizes) > MaxLayers+1 {
		return fmt.Errorf("net: layers %q: 1 to %d layers behind the inputs are possible", FormatSizes(sizes), MaxLayers)
	}
	for _, s := range sizes {
		if s < 1 || s > MaxUnits {
			return fmt.Errorf("net: layers %q: a layer has 1 to %d units", FormatSizes(sizes), MaxUnits)
		}
	}
	params := 0
	for k := range len(sizes) - 1 {
		params += (sizes[k] + 1) * sizes[k+1]
	}
	if params > MaxParams {
		return fmt.Errorf("net: layers %q: they have %d weights and biases, and at most %d are possible: try fewer units", FormatSizes(sizes), params, MaxParams)
	}
	return nil
}

// FormatSizes returns sizes as text, joined by hyphens, such as "50-25".
func FormatSizes(sizes []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes), " ", "-"), "[]")
}

// ParseSizes parses sizes in the format of FormatSizes, such as "50-25".
func ParseSizes(text string) (sizes []int, err error) {
	for word := range strings.SplitSeq(text, "-") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > MaxUnits {
			return nil, fmt.Errorf("layers cannot be %q: write their units, as in 50-25", text)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// Randomize sets the weights at random, as Glorot and Bengio (2010) do: uniformly distributed between -l and l. In
// each layer, l is the square root of 6 / (inputs + units). It sets the biases to 0.
func (n *Net) Randomize(r *rules.Rand) {
	for k, genes := range n.layers {
		in, out := n.Sizes[k], n.Sizes[k+1]
		limit := math.Sqrt(6 / float64(in+out))
		for i := range genes {
			genes[i] = 0
			if i < in*out {
				genes[i] = float32(limit * (2*float64(r.Uint64()>>11)/(1<<53) - 1))
			}
		}
	}
}

// Genes returns, for each layer, a slice with its weights and biases. For layer k these are Sizes[k] rows of
// Sizes[k+1] weights, a row for each input, then Sizes[k+1] biases. The slices are not copies: writing to
// them changes the net.
func (n *Net) Genes() [][]float32 { return n.layers }

// ParamCount returns the number of weights and biases.
func (n *Net) ParamCount() (count int) {
	for _, genes := range n.layers {
		count += len(genes)
	}
	return count
}

// Clone returns a copy that shares no memory with n.
func (n *Net) Clone() *Net {
	c := &Net{Sizes: n.Sizes, Output: n.Output}
	for _, genes := range n.layers {
		c.layers = append(c.layers, append([]float32(nil), genes...))
	}
	return c
}

// Layer returns the weights w and the biases b of layer k. They are parts of the slices of Genes, not copies.
func (n *Net) Layer(k int) (w, b []float32) {
	cut := n.Sizes[k] * n.Sizes[k+1]
	return n.layers[k][:cut], n.layers[k][cut:]
}

// InputWeights returns the weights of one input in the first layer, one for each unit. The slice is not a copy.
func (n *Net) InputWeights(input int) []float32 {
	units := n.Sizes[1]
	return n.layers[0][input*units : (input+1)*units]
}

// Workspace is the memory for computing outputs of nets with the same sizes. Each goroutine needs its own.
type Workspace struct {
	// FirstSums has the weighted sum of the inputs for each unit of the first layer, before max(0, x).
	FirstSums   []float32
	sums        [][]float32 // sums of each layer; sums[0] is FirstSums
	activations []float32   // FirstSums after max(0, x)
}

// NewWorkspace returns a Workspace for nets with the sizes of n.
func (n *Net) NewWorkspace() *Workspace {
	w := &Workspace{}
	for _, size := range n.Sizes[1:] {
		w.sums = append(w.sums, make([]float32, size))
	}
	w.FirstSums, w.activations = w.sums[0], make([]float32, n.Sizes[1])
	return w
}

// Inputs has the inputs of a net that are not 0: the indices and the values of these inputs.
type Inputs struct {
	Index []uint16
	Value []float32 // Value[i] is the value of input Index[i]
}

// Reset removes all inputs. It retains the memory of the slices.
func (s *Inputs) Reset() { s.Index, s.Value = s.Index[:0], s.Value[:0] }

// Add sets the input with the given index to x. That input must not have been set since the last Reset. If x is 0,
// Add does nothing.
func (s *Inputs) Add(input int, x float32) {
	if x != 0 {
		s.Index, s.Value = append(s.Index, uint16(input)), append(s.Value, x)
	}
}

// Forward returns the outputs of the net for the given inputs. It computes them in w. The slice is valid until the
// next use of w.
func (n *Net) Forward(w *Workspace, in *Inputs) []float32 {
	n.StartSums(w)
	for i, input := range in.Index {
		n.AddInput(w, int(input), in.Value[i])
	}
	return n.Outputs(w)
}

// StartSums sets w.FirstSums to the sums for inputs that are all 0. These are the biases of the first layer.
func (n *Net) StartSums(w *Workspace) {
	_, b := n.Layer(0)
	copy(w.FirstSums, b)
}

// AddInput adds the input with the given index and the value x to the sums in w.FirstSums.
func (n *Net) AddInput(w *Workspace, input int, x float32) {
	axpy(x, n.InputWeights(input), w.FirstSums)
}

// Outputs returns the outputs of the net for the sums in w.FirstSums, which StartSums and AddInput set. The slice
// is valid until the next use of w. If the net has a single layer, Outputs changes FirstSums.
func (n *Net) Outputs(w *Workspace) []float32 {
	last := len(n.layers) - 1
	out := w.sums[last]
	if last > 0 {
		n.forwardTo(last, n.HiddenOutputs(w), out)
	}
	n.Activate(out)
	return out
}

// HiddenOutputs returns the outputs of the layer before the last for the sums in w.FirstSums. If the net has a
// single layer, it returns FirstSums itself. It does not change FirstSums. The slice is valid until the next use of
// w.
func (n *Net) HiddenOutputs(w *Workspace) []float32 {
	if len(n.layers) == 1 {
		return w.FirstSums
	}
	from := w.activations
	for i, x := range w.FirstSums {
		from[i] = max(x, 0)
	}
	for k := 1; k < len(n.layers)-1; k++ {
		to := w.sums[k]
		n.forwardTo(k, from, to)
		relu(to)
		from = to
	}
	return from
}

// forwardTo computes the weighted sums of the units of layer k. from has the inputs of the layer, and to gets the
// sums.
func (n *Net) forwardTo(k int, from, to []float32) {
	weights, b := n.Layer(k)
	copy(to, b)
	units := n.Sizes[k+1]
	for i, x := range from {
		if x != 0 {
			axpy(x, weights[i*units:(i+1)*units], to)
		}
	}
}

// OutputSum returns the weighted sum of one unit of the last layer, before n.Output is applied to it. hidden must
// be the result of HiddenOutputs.
func (n *Net) OutputSum(hidden []float32, unit int) float32 {
	last := len(n.layers) - 1
	if last == 0 {
		return hidden[unit]
	}
	weights, b := n.Layer(last)
	units := n.Sizes[last+1]
	sum := b[unit]
	for i, x := range hidden {
		if x != 0 {
			sum += x * weights[i*units+unit]
		}
	}
	return sum
}

// Activate applies the function n.Output in place to the slice out, the sums of the last layer.
func (n *Net) Activate(out []float32) {
	switch n.Output {
	case Softmax:
		softmax(out)
	case Sigmoid:
		for i, x := range out {
			out[i] = float32(1 / (1 + math.Exp(-float64(x))))
		}
	}
}

func softmax(out []float32) {
	top := out[0]
	for _, x := range out[1:] {
		top = max(top, x)
	}
	sum := float32(0)
	for i, x := range out {
		out[i] = exp(x - top)
		sum += out[i]
	}
	scale := 1 / sum
	for i := range out {
		out[i] *= scale
	}
}

func exp(x float32) float32 { return float32(math.Exp(float64(x))) }

func relu(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}

func axpy(a float32, x, y []float32) { kernel.Saxpy(len(x), a, x, 1, y, 1) }

// Describe sets the fields of the model header h that describe the net: Layers and Output.
func (n *Net) Describe(h *model.Header) { h.Layers, h.Output = n.Sizes, string(n.Output) }

// Write writes the weights and biases to w, in the format that ReadWeights reads.
func (n *Net) Write(w io.Writer) error {
	for _, genes := range n.layers {
		if err := model.WriteFloats(w, genes); err != nil {
			return err
		}
	}
	return nil
}

// ReadWeights replaces the weights and biases by those that it reads from r. It returns an error if there are
// too few.
func (n *Net) ReadWeights(r io.Reader) error {
	for _, genes := range n.layers {
		if err := model.ReadFloats(r, genes); err != nil {
			return err
		}
	}
	return nil
}

// Read reads from b the net of the model with the header h. It returns an error if the net does not have the
// given numbers of inputs and outputs, or if b is damaged.
func Read(h model.Header, b *model.Body, inputs, outputs int) (*Net, error) {
	n, err := New(h.Layers, Output(h.Output))
	if err != nil {
		return nil, err
	}
	if n.Sizes[0] != inputs || n.Sizes[len(n.Sizes)-1] != outputs {
		return nil, fmt.Errorf("model: layers %s do not fit %d inputs and %d outputs of mode %s, encoding %s",
			FormatSizes(n.Sizes), inputs, outputs, h.Mode, h.Encoding)
	}
	if err := n.ReadWeights(b); err != nil {
		return nil, err
	}
	return n, b.CheckEnd()
}
