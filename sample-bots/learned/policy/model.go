package policy

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// Encoding returns the abstraction, and whether suits are alike, as text for the header of a model. KeysOf
// parses it.
func (k Keys) Encoding() string {
	words := strings.Fields(k.Abstraction)
	if k.Alike {
		words = append(words, alike)
	}
	return strings.Join(words, ",")
}

const alike = "alike"

// Model is an agent together with the keys by which it sees positions.
type Model struct {
	Keys
	Agent
	Header model.Header
}

// KeysOf returns the keys for the variant and the encoding in the header of a model.
func KeysOf(variant, encoding string) Keys {
	k := Keys{Variant: variant}
	for word := range strings.SplitSeq(encoding, ",") {
		if word == alike {
			k.Alike = true
		} else {
			k.Abstraction = word
		}
	}
	return k
}

// Read reads a model to the end of its body. k are its keys.
func Read(h model.Header, k Keys, body *model.Body) (*Model, error) {
	m := &Model{Header: h, Keys: k}
	if err := m.read(body); err != nil {
		return nil, err
	}
	return m, body.CheckEnd()
}

func (m *Model) read(body io.Reader) error {
	if err := m.Keys.Check(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	states, err := ReadPolicy(body)
	if err != nil {
		return err
	}
	m.States = states
	if m.Variant != ManyStates {
		return nil
	}
	votes, err := ReadPolicy(body)
	m.Votes = votes
	return err
}

// IndexDefect is a defect of R. Arjonilla's program. It takes the index of the chosen card among the legal
// moves and plays the card at that index of the hand, even if that is not legal.
const IndexDefect = "index"

// Move returns the model's move in a position, and whether it knows the state. With IndexDefect the move may
// be illegal.
func (m *Model) Move(v *View, p *cards.Position, legal []rules.Move, r *rules.Rand) (rules.Move, bool) {
	m.Observe(v, p, legal)
	action, known := m.Agent.Choose(v, r)
	move := v.Move(action)
	if slices.Contains(m.Header.Defects, IndexDefect) {
		move = MoveByHandIndex(move, legal, p.Board())
	}
	return move, known
}

// MoveByHandIndex returns the card of the hand whose index is that of m among the legal moves. In Tute it may
// be illegal.
func MoveByHandIndex(m rules.Move, legal []rules.Move, t *baraja.Table) rules.Move {
	if m >= baraja.SwapMove {
		return m
	}
	var memory [baraja.TableCards]rules.Move
	hand := t.Hands[t.Mover].Moves(memory[:0])
	for i, l := range legal {
		if l == m {
			return hand[i]
		}
	}
	return m
}

// Memory stores what an agent has learned: a Policy, or the table of a training.
type Memory interface {
	// Best returns the best legal action in a state, or false if it does not know any. legal has a bit for
	// each action.
	Best(k Key, legal uint64) (action uint8, known bool)
}

// Agent chooses actions.
type Agent struct {
	States Memory
	Votes  Memory // best action of most states with a FallbackKey; nil except in the variant ManyStates
}

// Choose returns the agent's action for a view, and whether it knows the state. If it does not, it uses
// Votes; if these do not know either, the action is random.
func (a *Agent) Choose(v *View, r *rules.Rand) (action uint8, known bool) {
	if action, known = a.States.Best(v.Key, v.Legal); known {
		return action, true
	}
	if a.Votes != nil {
		if action, known = a.Votes.Best(v.FallbackKey, v.Legal); known {
			return action, false
		}
	}
	return RandomAction(v.Legal, r), false
}
