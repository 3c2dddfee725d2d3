package env

import (
	"fmt"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/podrida"
	"github.com/timba-arena/timba/referee/rules/tebes"
	"github.com/timba-arena/timba/referee/rules/teeko"
	"github.com/timba-arena/timba/referee/rules/tute"
)

// positions is a batch of positions of one variant.
type positions interface {
	deal(i int, src *rules.Stream)
	at(i int) rules.State
	// points sets the points by seat.
	points(i int, dst []float32)
	// observe sets what a seat knows; dst is as long as the shape says.
	observe(i, seat int, planes []uint8, numbers []int16)
}

// Plane is a part of an observation: so many bytes, each 0 or 1.
type Plane struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// shape is what the arrays of a variant look like.
type shape struct {
	planes  []Plane
	numbers []string
	widest  int    // the most legal moves of a position
	last    string // the text of the highest move
	bytes   int    // of a position
}

// width returns the bytes of all planes.
func (s *shape) width() (n int) {
	for _, p := range s.planes {
		n += p.Size
	}
	return n
}

// dealt is a state that is dealt by the resolved options of its game.
type dealt[S, R any] interface {
	*S
	rules.State
	Deal(R, *rules.Stream)
}

// coder turns positions of a game into numbers, without allocation.
type coder[P any] struct {
	score func(p P, dst []float32)
	look  func(p P, seat int, planes []uint8, numbers []int16)
}

// batch is positions side by side in memory.
type batch[S, R any, P dealt[S, R]] struct {
	coder[P]
	rules  R
	states []S
}

func newBatch[S, R any, P dealt[S, R]](r R, n int, c coder[P]) positions {
	return &batch[S, R, P]{c, r, make([]S, n)}
}

func (b *batch[S, R, P]) deal(i int, src *rules.Stream) { P(&b.states[i]).Deal(b.rules, src) }
func (b *batch[S, R, P]) at(i int) rules.State          { return P(&b.states[i]) }
func (b *batch[S, R, P]) points(i int, dst []float32)   { b.score(&b.states[i], dst) }
func (b *batch[S, R, P]) observe(i, seat int, planes []uint8, numbers []int16) {
	b.look(&b.states[i], seat, planes, numbers)
}

// shapeOf returns the arrays of a variant.
func shapeOf(v *rules.Variant) (shape, error) {
	switch r := v.Rules.(type) {
	case brisca.Rules:
		return briscaShape(r), nil
	case tute.Rules:
		return tuteShape(r), nil
	case podrida.Rules:
		return podridaShape(r), nil
	case tebes.Rules:
		return tebesShape(r), nil
	case teeko.Rules:
		return teekoShape(), nil
	}
	return shape{}, fmt.Errorf("env: game %q has no arrays", v.Game.Name)
}

// newPositions returns so many positions of a variant that has a shape.
func newPositions(v *rules.Variant, n int) positions {
	switch r := v.Rules.(type) {
	case brisca.Rules:
		return newBatch(r, n, coder[*brisca.State]{
			func(s *brisca.State, dst []float32) { tablePoints(&s.Table, dst) },
			lookBrisca,
		})
	case tute.Rules:
		return newBatch(r, n, coder[*tute.State]{
			func(s *tute.State, dst []float32) { tablePoints(&s.Table, dst) },
			lookTute,
		})
	case podrida.Rules:
		return newBatch(r, n, coder[*podrida.State]{podridaPoints, lookPodrida})
	case tebes.Rules:
		return newBatch(r, n, coder[*tebes.State]{tebesPoints, lookTebes})
	case teeko.Rules:
		return newBatch(r, n, coder[*teeko.State]{teekoPoints, lookTeeko})
	}
	return nil
}
