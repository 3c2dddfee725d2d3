package ga

import (
	"fmt"

	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/features"
	"github.com/timba-arena/timba/sample-bots/learn/model"
	"github.com/timba-arena/timba/sample-bots/learn/net"
	"github.com/timba-arena/timba/sample-bots/learn/rl"
)

// Model is what a search has come to: a net, or what an agent has learned.
type Model struct {
	Mode  learn.Mode
	Net   *net.Net  // nil for an agent
	Agent *rl.Model // nil for a net
}

// Read reads a model of this package, to the end of its body.
func Read(h model.Header, b *model.Body) (m Model, err error) {
	if h.Kind != model.GA {
		return m, fmt.Errorf("model: kind %q is not %q: try a model of timba train ga", h.Kind, model.GA)
	}
	if m.Mode, err = learn.ParseMode(h.Mode); err != nil {
		return m, err
	}
	switch {
	case h.Variant == Agents:
		keys, err := ParseKeys(h.Encoding)
		if err != nil {
			return m, fmt.Errorf("model: %w", err)
		}
		m.Agent, err = rl.ReadBody(h, keys, b)
		return m, err
	case h.Encoding != features.Genetic:
		return m, fmt.Errorf("model: encoding %q is not %q: try a model of timba train ga", h.Encoding, features.Genetic)
	}
	e := encoder(m.Mode)
	m.Net, err = net.Read(h, b, e.Inputs(), m.Mode.Actions())
	return m, err
}
