package sl

import (
	"fmt"
	"slices"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/features"
	"github.com/timba-arena/timba/sample-bots/learn/model"
	"github.com/timba-arena/timba/sample-bots/learn/net"
)

// Agent plays the moves that a net values most. It is for one goroutine.
type Agent struct {
	Header  model.Header
	Mode    learn.Mode
	net     *net.Net
	encoder features.Encoder
	work    *net.Work
	sample  net.Sample
	sums    []float32 // of the first layer for the state, without an action
	noSongs bool
}

// Read reads the agent of a model.
func Read(h model.Header, b *model.Body) (*Agent, error) {
	if h.Kind != model.SL {
		return nil, fmt.Errorf("model: kind %q is not %q: try @%s", h.Kind, model.SL, h.Kind)
	}
	m, err := learn.ParseMode(h.Mode)
	if err != nil {
		return nil, err
	}
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
	return newAgent(h, m, e, n), nil
}

func newAgent(h model.Header, m learn.Mode, e features.Encoder, n *net.Net) *Agent {
	return &Agent{
		Header: h, Mode: m, net: n, encoder: e, work: n.NewWork(), sums: make([]float32, n.Sizes[1]),
		noSongs: slices.Contains(h.Defects, NoSongs),
	}
}

// Agent returns the agent of the net as it is.
func (t *Training) Agent() *Agent {
	h := t.Header()
	return newAgent(h, t.rows.set.Mode, t.rows.encoder, t.net.Clone())
}

// Choose returns the best of the legal moves of the seat to move, and what the net says of it: its
// most probable label or the mean of all, which moves are compared by, or for WL the chance of
// winning.
func Choose[S any, P learn.Position[S]](a *Agent, p P, w *learn.Watch, legal []rules.Move, mean bool) (best rules.Move, value float64) {
	if a.noSongs && learn.Action(legal[0]) >= learn.Sing {
		return legal[0], 0
	}
	a.sample.Reset()
	features.AppendState[S, P](&a.encoder, &a.sample, p, w, p.Turn())
	a.net.Start(a.work)
	for i, input := range a.sample.Index {
		a.net.Add(a.work, int(input), a.sample.Value[i])
	}
	copy(a.sums, a.work.First)
	var top rank
	for i, m := range legal {
		copy(a.work.First, a.sums)
		a.net.Add(a.work, a.encoder.ActionInput(learn.Action(m)), 1)
		if r := a.rank(a.net.Finish(a.work), mean); i == 0 || r.above(top) {
			best, top = m, r
		}
	}
	return best, top.value
}

// rank is how good an action is: by order, then by chance.
type rank struct{ order, chance, value float64 }

func (r rank) above(o rank) bool {
	return r.order > o.order || r.order == o.order && r.chance > o.chance
}

// rank ranks an action by the outputs for it.
func (a *Agent) rank(out []float32, mean bool) rank {
	if a.Header.Labels == nil {
		return rank{order: float64(out[0]), value: float64(out[0])}
	}
	if mean {
		sum := 0.0
		for i, chance := range out {
			sum += float64(chance) * float64(a.Header.Labels[i])
		}
		return rank{order: sum, value: sum}
	}
	class := mostProbable(out)
	return rank{order: float64(class), chance: float64(out[class]), value: float64(a.Header.Labels[class])}
}
