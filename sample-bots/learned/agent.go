// Package learned plays Brisca and Tute by models that were trained before: it has the games as
// models see them, the nets, the policies and the files, and knows nothing of training.
//
// Begin with Read and Agent; package cards has the games, and lab/README.md the files.
package learned

import (
	"fmt"
	"io"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Agent plays a model. It is for one goroutine.
type Agent struct {
	Header   model.Header
	Mode     cards.Mode
	position cards.Position
	// choose returns one of the legal moves of the seat to move, and what is to be said of it.
	choose func(p *cards.Position, legal []rules.Move, r *rules.Rand) (rules.Move, Note)
}

// Note is what an agent says of its move: nothing, its value, or whether it knows the state.
type Note struct {
	Name  string // "", Score or Known
	Value float64
}

// The names of notes.
const (
	ScoreNote = "score"
	KnownNote = "known" // 0 or 1
)

// Read reads the agent of a model of a kind. An agent of the kind sl compares moves by the mean of
// their labels if byMean is set, else by their most probable label.
func Read(r io.Reader, kind string, byMean bool) (*Agent, error) {
	h, body, err := model.Read(r)
	if err != nil {
		return nil, err
	}
	if h.Kind != kind {
		return nil, fmt.Errorf("model: kind %q is not %q: try @%s", h.Kind, kind, h.Kind)
	}
	m, _ := cards.ParseMode(h.Mode) // model.Read has found it
	a := &Agent{Header: h, Mode: m}
	switch kind {
	case model.SL:
		var sl *SL
		if sl, err = ReadSL(h, body); err == nil {
			a.choose = func(p *cards.Position, legal []rules.Move, _ *rules.Rand) (rules.Move, Note) {
				move, value := sl.Choose(p, legal, byMean)
				return move, Note{ScoreNote, value}
			}
		}
	case model.Net:
		var net *NetAgent
		if net, err = ReadNet(h, body); err == nil {
			a.choose = func(p *cards.Position, legal []rules.Move, _ *rules.Rand) (rules.Move, Note) {
				move, _ := net.Choose(p, legal)
				return move, Note{}
			}
		}
	case model.RL:
		var p *policy.Model
		if p, err = policy.Read(h, policy.KeysOf(h.Variant, h.Encoding), body); err == nil {
			a.choose = policyChooser(p)
		}
	case model.GA:
		n, p, readErr := ReadGA(h, body)
		if err = readErr; p != nil {
			a.choose = policyChooser(p)
		} else if n != nil {
			ga := NewGA(m, n)
			a.choose = func(p *cards.Position, legal []rules.Move, _ *rules.Rand) (rules.Move, Note) {
				ga.StartGame() // the last position may be of another game
				return ga.Choose(p, legal), Note{}
			}
		}
	}
	return a, err
}

// Choose returns one of the legal moves of a position of the agent's mode, and what it says of it.
// The position need not be reached move by move. With the defect Index of package policy the move
// may not be legal.
func (a *Agent) Choose(s rules.State, legal []rules.Move, r *rules.Rand) (rules.Move, Note) {
	if !a.position.SetState(s) {
		return legal[0], Note{} // cards.ModeOf knows no other game
	}
	return a.choose(&a.position, legal, r)
}

func policyChooser(m *policy.Model) func(*cards.Position, []rules.Move, *rules.Rand) (rules.Move, Note) {
	view := new(policy.View)
	return func(p *cards.Position, legal []rules.Move, r *rules.Rand) (rules.Move, Note) {
		move, known := m.Move(view, p, legal, r)
		if known {
			return move, Note{KnownNote, 1}
		}
		return move, Note{KnownNote, 0}
	}
}
