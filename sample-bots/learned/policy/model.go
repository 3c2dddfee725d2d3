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

// Encoding returns the abstraction and whether suits are alike, as the header of a model has them.
// KeysOf reads it.
func (k Keys) Encoding() string {
	words := strings.Fields(k.Abstraction)
	if k.Alike {
		words = append(words, alike)
	}
	return strings.Join(words, ",")
}

const alike = "alike"

// Model is a policy with what it sees.
type Model struct {
	Keys
	Agent
	Header model.Header
}

// KeysOf returns the keys of a variant and an encoding.
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

// Read reads a model with given keys, to the end of its body.
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

// IndexDefect is a defect of the study's program: it plays the card of the hand that has the place of the
// chosen card among the legal ones, even if it is not legal.
const IndexDefect = "index"

// Move returns the model's move in a position and whether it knows the state. With the defect
// Index the move may not be legal.
func (m *Model) Move(v *View, p *cards.Position, legal []rules.Move, r *rules.Rand) (rules.Move, bool) {
	m.Observe(v, p, legal)
	action, known := m.Agent.Choose(v, r)
	move := v.Move(action)
	if slices.Contains(m.Header.Defects, IndexDefect) {
		move = MoveByHandIndex(move, legal, p.Board())
	}
	return move, known
}

// MoveByHandIndex returns the card of the hand that has the place of a card among the legal moves. It
// may not be legal in Tute: the state plays any card in hand.
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

// Memory is what an agent chooses by: a Policy, or the table of a training.
type Memory interface {
	// Best returns the best of the legal actions in a state, and false if it does not know.
	Best(k Key, legal uint64) (action uint8, known bool)
}

// Agent chooses actions.
type Agent struct {
	States Memory
	Votes  Memory // by the abstraction of MC-MS, what is best in most states; nil without
}

// Choose returns the action that the agent takes in what it sees, and whether it knows the state;
// if not even the votes do, the action is random.
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
