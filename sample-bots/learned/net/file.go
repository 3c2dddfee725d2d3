package net

import (
	"fmt"
	"io"

	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// Describe sets what a header says of the net.
func (n *Net) Describe(h *model.Header) { h.Layers, h.Output = n.Sizes, string(n.Output) }

// Write writes the weights, as the body of a model whose header Describe has completed.
func (n *Net) Write(w io.Writer) error {
	for _, genes := range n.layers {
		if err := model.WriteFloats(w, genes); err != nil {
			return err
		}
	}
	return nil
}

// ReadWeights sets the weights to those that Write wrote.
func (n *Net) ReadWeights(r io.Reader) error {
	for _, genes := range n.layers {
		if err := model.ReadFloats(r, genes); err != nil {
			return err
		}
	}
	return nil
}

// Read reads the net of a model with so many inputs and outputs, to the end of its body.
func Read(h model.Header, b *model.Body, inputs, outputs int) (*Net, error) {
	n, err := New(h.Layers, Output(h.Output))
	if err != nil {
		return nil, err
	}
	if n.Sizes[0] != inputs || n.Sizes[len(n.Sizes)-1] != outputs {
		return nil, fmt.Errorf("model: layers %s do not fit %d inputs and %d outputs of mode %s, encoding %s", SizesText(n.Sizes), inputs, outputs, h.Mode, h.Encoding)
	}
	if err := n.ReadWeights(b); err != nil {
		return nil, err
	}
	return n, b.End()
}
