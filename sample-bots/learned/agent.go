// Package learned plays Brisca and Tute by models that were trained before. It reads model files and chooses
// moves, but does not train; the packages of lab/train do.
//
// Begin with Read and Agent. Package cards has the games in the form that models see, and lab/README.md
// describes the files.
package learned

import (
	"fmt"
	"io"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Agent plays Brisca or Tute by a trained model. It must not be used by several goroutines at once.
type Agent struct {
	Header   model.Header
	Mode     cards.Mode
	position cards.Position
	// choose returns one of the legal moves of the seat to move, and a note about it.
	choose func(p *cards.Position, legal []rules.Move, r *rules.Rand) (rules.Move, Note)
}

// Note is a named number that describes a move of an agent, such as its value. A bot reports it with the move.
type Note struct {
	Name  string // ScoreNote or KnownNote; "" if there is no note
	Value float64
}

// Names of notes.
const (
	ScoreNote = "score" // Value is the value of the move in the unit of the model
	KnownNote = "known" // Value is 1 if the model has learned the state, otherwise 0
)

// Read reads a model file from r and returns the agent that plays by it. It returns an error if the file is damaged, or
// if the model is not of the given kind, such as model.RL; the kind "" allows every model. byMean only matters for the
// kind model.SL, whose models predict a class of results (a label) for each move: the agent then compares moves by the
// mean of all labels instead of the most probable label.
func Read(r io.Reader, kind string, byMean bool) (*Agent, error) {
	h, body, err := model.Read(r)
	if err != nil {
		return nil, err
	}
	if kind != "" && h.Kind != kind {
		return nil, fmt.Errorf("model: kind %q is not %q: try @%s", h.Kind, kind, h.Kind)
	}
	m, _ := cards.ParseMode(h.Mode) // model.Read has checked it
	a := &Agent{Header: h, Mode: m}
	switch h.Kind {
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

// Choose returns one of the legal moves of s and a note about it. The mode of s (its game with certain options)
// must be a.Mode. The positions of successive calls need not belong to the same game. If the model has the defect
// policy.IndexDefect, the move may be illegal.
func (a *Agent) Choose(s rules.State, legal []rules.Move, r *rules.Rand) (rules.Move, Note) {
	if !a.position.SetState(s) {
		return legal[0], Note{} // this is neither Brisca nor Tute
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
