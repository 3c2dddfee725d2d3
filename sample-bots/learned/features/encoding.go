// Package features makes inputs of nets from positions of Brisca and Tute: by the Encoder of R.
// Arjonilla, bachelor's thesis, UOC 2024, or by our own Table.
package features

import (
	"fmt"

	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// The encodings of a position as inputs.
const (
	// Scaled is one-hot suits, and numbers from 0 to 1 for all else: 56 to 76 inputs with the
	// action.
	Scaled = "scaled"
	// Unscaled is bits: 160 to 207 inputs with the action.
	Unscaled = "unscaled"
	// Genetic is Unscaled without the points and the action: 112 inputs in Brisca with two
	// players.
	Genetic = "genetic"
)

const (
	ranks      = 10 // strengths of a suit's cards, counted from 1
	suits      = 4
	pointBits  = 7 // of the seat's own points; 127 stands for all above
	mostPoints = 1<<pointBits - 1
	all40      = 1<<baraja.TableCards - 1
)

// Encoder encodes positions of a mode. Inputs are in this order: the trump card; the cards in
// the trick, from its leader, zeros where there is none; the hand; in Tute the suits that each
// seat has sung, the own first; the cards played; the points, the own first; the optional rules
// that are on; the action.
type Encoder struct {
	Mode   cards.Mode
	bits   bool // else numbers
	action bool // with the points and the action
	inputs int
}

// NewEncoder returns the encoder of an encoding.
func NewEncoder(m cards.Mode, encoding string) (Encoder, error) {
	e := Encoder{Mode: m, bits: true}
	switch encoding {
	case Scaled:
		e.bits, e.action = false, true
	case Unscaled:
		e.action = true
	case Genetic:
	default:
		return e, fmt.Errorf("encoding %q does not exist: try %s, %s or %s", encoding, Scaled, Unscaled, Genetic)
	}
	e.inputs = e.count()
	return e, nil
}

func (e *Encoder) count() int {
	m := &e.Mode
	card, set, song, rule, points := suits+1, 1, 1, 1, m.Players
	if e.bits {
		card, set, song, rule, points = suits+ranks, baraja.TableCards, suits, m.RuleCount(), pointBits
	}
	n := card*m.Players + 2*set + rule
	if m.Tute {
		n += song * m.Players
	}
	if e.action {
		n += points + m.Actions()
	}
	return n
}

// Inputs returns the number of inputs.
func (e *Encoder) Inputs() int { return e.inputs }

// ActionInput returns the input that is 1 for an action, where the encoding has the action.
func (e *Encoder) ActionInput(action int) int { return e.inputs - e.Mode.Actions() + action }

// SeenInput returns the input that is 1 when a card has been played, where the encoding is Genetic.
func (e *Encoder) SeenInput(c baraja.Card) int {
	return e.inputs - e.Mode.RuleCount() - baraja.TableCards + cards.Index(c)
}

// AppendState adds the inputs of what a seat sees of a position, all but the action.
func (e *Encoder) AppendState(s *net.Inputs, p *cards.Position, seat int) {
	t, songs := p.Board(), p.Songs()
	a := adder{s: s, bits: e.bits}
	a.trump(t.Trump)
	trick := t.Trick()
	for i := range e.Mode.Players - 1 {
		if i < len(trick) {
			a.card(trick[i])
		} else {
			a.skipCard()
		}
	}
	a.set(t.Hands[seat])
	if e.Mode.Tute {
		for i := range e.Mode.Players {
			a.number(uint64(p.Watch.Sung(&songs, (seat+i)%e.Mode.Players)), suits)
		}
	}
	a.set(p.Watch.Seen)
	if e.action {
		e.addPoints(&a, t, seat)
	}
	a.number(uint64(cards.RuleBits(p.Options())), e.Mode.RuleCount())
}

func (e *Encoder) addPoints(a *adder, t *baraja.Table, seat int) {
	if e.bits {
		a.number(uint64(min(t.Points[seat], mostPoints)), pointBits)
		return
	}
	for i := range e.Mode.Players {
		a.scaled(float32(t.Points[(seat+i)%e.Mode.Players]) / float32(e.Mode.MostPoints()))
	}
}

// adder adds inputs to a sample, one after another.
type adder struct {
	s    *net.Inputs
	at   int // the next input
	bits bool
}

func (a *adder) scaled(x float32) {
	a.s.Add(a.at, x)
	a.at++
}

// oneHot adds n inputs, of which one is 1.
func (a *adder) oneHot(i, n int) {
	a.s.Add(a.at+i, 1)
	a.at += n
}

func (a *adder) trump(c baraja.Card) {
	a.oneHot(int(c.Suit()), suits)
	if a.bits {
		a.oneHot(baraja.Strength(c)-1, ranks)
		return
	}
	a.scaled(float32(baraja.Strength(c)-1) / (ranks - 1))
}

func (a *adder) card(c baraja.Card) {
	a.oneHot(int(c.Suit()), suits)
	if a.bits {
		a.oneHot(baraja.Strength(c)-1, ranks)
		return
	}
	a.scaled(float32(baraja.Strength(c)) / ranks)
}

func (a *adder) skipCard() {
	a.at += suits + 1
	if a.bits {
		a.at += ranks - 1
	}
}

// set adds a set of cards.
func (a *adder) set(set baraja.Set) {
	if !a.bits {
		a.scaled(float32(float64(cards.Bits40(set)) / all40))
		return
	}
	for ; set != 0; set &= set - 1 {
		a.s.Add(a.at+cards.Index(set.First()), 1)
	}
	a.at += baraja.TableCards
}

// number adds a number of n bits: the lowest bit first.
func (a *adder) number(x uint64, n int) {
	if !a.bits {
		a.scaled(float32(x) / float32(uint64(1)<<n-1))
		return
	}
	for i := range n {
		if x>>i&1 != 0 {
			a.s.Add(a.at+i, 1)
		}
	}
	a.at += n
}
