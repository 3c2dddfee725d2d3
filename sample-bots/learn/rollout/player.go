package rollout

import (
	"fmt"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/features"
	"github.com/timba-arena/timba/sample-bots/learn/model"
	"github.com/timba-arena/timba/sample-bots/learn/net"
)

// Player plays a net: the legal move with the highest output. It allocates nothing while it
// plays, and is for one goroutine.
type Player struct {
	Mode    learn.Mode
	encoder features.Table
	net     *net.Net
	work    *net.Work
	ones    []uint16
}

// NewPlayer returns a player of a net for a mode.
func NewPlayer(m learn.Mode, n *net.Net) *Player {
	return &Player{Mode: m, encoder: features.NewTable(m), net: n, work: n.NewWork()}
}

// Read reads the player of a model.
func Read(h model.Header, b *model.Body) (*Player, error) {
	switch {
	case h.Kind != model.Net:
		return nil, fmt.Errorf("model: kind %q is not %q: try @%s", h.Kind, model.Net, h.Kind)
	case h.Encoding != features.Complete:
		return nil, fmt.Errorf("model: encoding %q is not %q: try a model of timba train net", h.Encoding, features.Complete)
	}
	m, err := learn.ParseMode(h.Mode)
	if err != nil {
		return nil, err
	}
	e := features.NewTable(m)
	n, err := net.Read(h, b, e.Inputs(), m.Actions())
	if err != nil {
		return nil, err
	}
	return NewPlayer(m, n), nil
}

// Net returns the net, which must not be changed.
func (a *Player) Net() *net.Net { return a.net }

// Choose returns the legal move of the highest output, the first of equal ones, and the output.
func Choose[S any, P learn.Position[S]](a *Player, p P, w *learn.Watch, legal []rules.Move) (best rules.Move, value float32) {
	var places features.Places
	a.ones, places = features.AppendTable[S, P](&a.encoder, a.ones[:0], p, w)
	a.net.Start(a.work)
	for _, input := range a.ones {
		a.net.Add(a.work, int(input), 1)
	}
	hidden := a.net.Hidden(a.work)
	for i, m := range legal {
		if x := a.net.Sum(hidden, places.Output(learn.Action(m))); i == 0 || x > value {
			best, value = m, x
		}
	}
	return best, value
}
