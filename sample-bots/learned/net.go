package learned

import (
	"fmt"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// NetAgent plays by a neural net with one output for each action: it makes the legal move with the highest
// output. It allocates nothing while it plays, and must not be used by several goroutines at once.
type NetAgent struct {
	Mode    cards.Mode
	encoder features.CompleteEncoder
	net     *net.Net
	work    *net.Workspace
	ones    []uint16
}

// NewNet returns a player for the mode m (a game with certain options) that plays by the net n.
func NewNet(m cards.Mode, n *net.Net) *NetAgent {
	return &NetAgent{Mode: m, encoder: features.NewCompleteEncoder(m), net: n, work: n.NewWorkspace()}
}

// ReadNet reads a model of the kind net from b and returns a player that uses it. h is the header of the model.
func ReadNet(h model.Header, b *model.Body) (*NetAgent, error) {
	switch {
	case h.Kind != model.Net:
		return nil, fmt.Errorf("model: kind %q is not %q: try @%s", h.Kind, model.Net, h.Kind)
	case h.Output != string(net.Linear):
		return nil, fmt.Errorf("model: output %q is not %q: try a model of timba-lab train net", h.Output, net.Linear)
	case h.Encoding != features.Complete:
		return nil, fmt.Errorf("model: encoding %q is not %q: try a model of timba-lab train net", h.Encoding, features.Complete)
	}
	m, _ := cards.ParseMode(h.Mode) // model.Read has checked it
	e := features.NewCompleteEncoder(m)
	n, err := net.Read(h, b, e.Inputs(), m.Actions())
	if err != nil {
		return nil, err
	}
	return NewNet(m, n), nil
}

// Weights returns the net. The caller must not change it.
func (a *NetAgent) Weights() *net.Net { return a.net }

// Choose returns the legal move with the highest output of the net, the first one if several are equal. value
// is that output.
func (a *NetAgent) Choose(p *cards.Position, legal []rules.Move) (best rules.Move, value float32) {
	var places features.Places
	a.ones, places = a.encoder.Append(a.ones[:0], p)
	a.net.StartSums(a.work)
	for _, input := range a.ones {
		a.net.AddInput(a.work, int(input), 1)
	}
	hidden := a.net.HiddenOutputs(a.work)
	for i, m := range legal {
		if x := a.net.OutputSum(hidden, places.Output(cards.Action(m))); i == 0 || x > value {
			best, value = m, x
		}
	}
	return best, value
}
