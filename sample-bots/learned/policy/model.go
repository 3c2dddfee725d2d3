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

// Encoding returns k as text for the header of a model. KeysOf parses it.
func (k Keys) Encoding() string {
	words := strings.Fields(k.Abstraction)
	if k.Alike {
		words = append(words, alike)
	}
	return strings.Join(words, ",")
}

const alike = "alike"

// Model is a trained agent as it is stored in a file. Its Keys define what the agent sees of a position.
type Model struct {
	Keys
	Agent
	Header model.Header
}

// KeysOf returns the Keys, which define what a learner sees of a position. variant and encoding are the fields
// Variant and Encoding of a model's header. KeysOf does not check whether the Keys are valid; Keys.Check does.
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

// Read reads from body the model that has the header h. k defines what its agent sees of a position. It returns an
// error if k is not valid or the body is damaged.
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

// IndexDefect is the name of a defect of R. Arjonilla's program that a model can reproduce. The program takes the
// index of the chosen card among the legal moves, and then plays the card that has this index in the hand, even if
// that is not legal.
const IndexDefect = "index"

// Move returns the model's move in p, and whether the model has learned the state. legal has the legal moves. v is
// memory, which Move overwrites. If the model has the defect IndexDefect, the move may be illegal.
func (m *Model) Move(v *View, p *cards.Position, legal []rules.Move, r *rules.Rand) (rules.Move, bool) {
	m.Observe(v, p, legal)
	action, known := m.Agent.Choose(v, r)
	move := v.Move(action)
	if slices.Contains(m.Header.Defects, IndexDefect) {
		move = MoveByHandIndex(move, legal, p.Board())
	}
	return move, known
}

// MoveByHandIndex reproduces the defect that IndexDefect names. It takes the index that the card m has among the
// legal moves, and returns the card that has this index in the hand. In Tute that move may be illegal. If m does
// not play a card, it returns m.
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

// Memory is what an agent has learned about states. It is a Policy, or the table of a training in progress.
type Memory interface {
	// Best returns the best of the legal actions in the state with the key k. known is false if nothing is known
	// about them. legal has one bit for each action.
	Best(k Key, legal uint64) (action uint8, known bool)
}

// Agent chooses an action by what it has learned about the state.
type Agent struct {
	States Memory
	Votes  Memory // for unknown states, by View.FallbackKey; nil except in the variant ManyStates
}

// Guesses reports whether Choose would draw a random action in the state that v describes. It would if a.States knows
// nothing about the legal actions of this state, and a.Votes (if it is not nil) knows nothing about those of the states
// with the same fallback key.
func (a *Agent) Guesses(v *View) bool {
	_, known := a.States.Best(v.Key, v.Legal)
	if !known && a.Votes != nil {
		_, known = a.Votes.Best(v.FallbackKey, v.Legal)
	}
	return !known
}

// Choose returns the best action in the state that v describes. known reports whether a.States knows the state. If
// not, Choose returns the best action by a.Votes or, if that knows none either, a random legal action.
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
