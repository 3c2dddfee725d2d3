package learned

import (
	"fmt"
	"slices"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// NoSongsDefect is the name of a defect of R. Arjonilla's program for Tute that a model can reproduce. The nets of
// the program cannot value the declaration of the 12 and 11 of a suit (a song), so it never declares. In this
// package a seat must choose a declaration; a model with the defect chooses the first.
const NoSongsDefect = "no-songs"

// SL plays by a neural net that values a single action in a position. It must not be used by several goroutines at
// once.
type SL struct {
	Header  model.Header
	net     *net.Net
	encoder features.Encoder
	work    *net.Workspace
	sample  net.Inputs
	sums    []float32 // sums of the first layer without the input for the action
	noSongs bool
}

// ReadSL reads a model of the kind sl (supervised learning) from b, and returns its agent. h is the header of the
// model.
func ReadSL(h model.Header, b *model.Body) (*SL, error) {
	m, _ := cards.ParseMode(h.Mode) // model.Read has checked it
	e, err := features.NewEncoder(m, h.Encoding)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	outputs := len(h.Labels)
	if h.Output == string(net.Sigmoid) {
		outputs = 1
	}
	n, err := net.Read(h, b, e.Inputs(), outputs)
	if err != nil {
		return nil, err
	}
	return NewSL(h, e, n), nil
}

// NewSL returns an agent that plays by the net n. h is the header of the model, and e encodes the inputs.
func NewSL(h model.Header, e features.Encoder, n *net.Net) *SL {
	return &SL{
		Header: h, net: n, encoder: e, work: n.NewWorkspace(), sums: make([]float32, n.Sizes[1]),
		noSongs: slices.Contains(h.Defects, NoSongsDefect),
	}
}

// Choose returns the best legal move of the seat to move, and its value. If the net gives probabilities of labels
// (classes of results), value is the mean label if mean is set, and otherwise the most probable label. If the net
// has no labels, value is the probability to win.
func (a *SL) Choose(p *cards.Position, legal []rules.Move, mean bool) (best rules.Move, value float64) {
	if a.noSongs && cards.Action(legal[0]) >= cards.SingAction {
		return legal[0], 0
	}
	a.sample.Reset()
	a.encoder.AppendState(&a.sample, p, p.Turn())
	a.net.StartSums(a.work)
	for i, input := range a.sample.Index {
		a.net.AddInput(a.work, int(input), a.sample.Value[i])
	}
	copy(a.sums, a.work.FirstSums)
	var top rank
	for i, m := range legal {
		copy(a.work.FirstSums, a.sums)
		a.net.AddInput(a.work, a.encoder.ActionInput(cards.Action(m)), 1)
		if r := a.rank(a.net.Outputs(a.work), mean); i == 0 || r.isAbove(top) {
			best, top = m, r
		}
	}
	return best, top.value
}

// rank orders actions. The action with the higher order is better. If the orders are equal, the action with the
// higher chance is better. value is the value of the action that Choose returns.
type rank struct{ order, chance, value float64 }

func (r rank) isAbove(o rank) bool {
	return r.order > o.order || r.order == o.order && r.chance > o.chance
}

// rank returns the rank of an action. out has the outputs of the net for the action. If the model has labels
// (classes of results), they are the probabilities of the labels; mean then selects the mean label instead of the
// most probable label.
func (a *SL) rank(out []float32, mean bool) rank {
	if len(a.Header.Labels) == 0 {
		return rank{order: float64(out[0]), value: float64(out[0])}
	}
	if mean {
		sum := 0.0
		for i, chance := range out {
			sum += float64(chance) * float64(a.Header.Labels[i])
		}
		return rank{order: sum, value: sum}
	}
	class := MostProbable(out)
	return rank{order: float64(class), chance: float64(out[class]), value: float64(a.Header.Labels[class])}
}

// MostProbable returns the index of the highest value in out, or the first one if several are equal.
func MostProbable(out []float32) (best int) {
	for i, x := range out {
		if x > out[best] {
			best = i
		}
	}
	return best
}
