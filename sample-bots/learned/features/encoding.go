// Package features encodes positions of Brisca and Tute as inputs of nets: by Encoder, which follows R.
// Arjonilla, bachelor's thesis, UOC 2024, or by CompleteEncoder, which does not.
package features

import (
	"fmt"

	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// The names of the encodings of a position as inputs of a net.
const (
	// Scaled is the encoding in which the suit of a card is one of several inputs that are 0 or 1, and everything
	// else is a number from 0 to 1. It has 56 to 76 inputs including the action.
	Scaled = "scaled"
	// Unscaled is the encoding in which all inputs are 0 or 1. It has 160 to 207 inputs including the action.
	Unscaled = "unscaled"
	// Genetic is like Unscaled, but without the points and the action. It has 112 inputs in Brisca with two
	// players.
	Genetic = "genetic"
)

const (
	ranks     = 10 // number of cards in a suit; their strengths count from 1
	suits     = 4
	pointBits = 7 // number of inputs for the seat's own points; 127 also stands for more points
	maxPoints = 1<<pointBits - 1
	all40     = 1<<baraja.TableCards - 1
)

// Encoder encodes positions of one mode (a game with certain options) as inputs of a net. The inputs are, in this
// order: the trump card; the cards of the trick, the first one first, with zeros for missing ones; the hand; in
// Tute the suits whose 12 and 11 each seat has declared; the played cards; the points; the optional rules; the
// action. Where there are inputs for each seat, the own seat comes first.
type Encoder struct {
	Mode   cards.Mode
	bits   bool // inputs are 0 or 1 instead of numbers between
	action bool // there are inputs for the points and the action
	inputs int
}

// NewEncoder returns an encoder for positions of the mode m. encoding is Scaled, Unscaled or Genetic.
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

// Inputs returns the number of inputs of the net.
func (e *Encoder) Inputs() int { return e.inputs }

// ActionInput returns the number of the input that is 1 for the given action. The encoding must include the action.
func (e *Encoder) ActionInput(action int) int { return e.inputs - e.Mode.Actions() + action }

// PlayedInput returns the number of the input that is 1 after c was played. The encoding must be Genetic.
func (e *Encoder) PlayedInput(c baraja.Card) int {
	return e.inputs - e.Mode.RuleCount() - baraja.TableCards + cards.Index(c)
}

// AppendState adds to s the inputs for what the given seat may know of p. It adds no input for the action.
func (e *Encoder) AppendState(s *net.Inputs, p *cards.Position, seat int) {
	t, songs := p.Board(), p.Songs()
	a := adder{s: s, bits: e.bits}
	a.addTrump(t.Trump)
	trick := t.Trick()
	for i := range e.Mode.Players - 1 {
		if i < len(trick) {
			a.addCard(trick[i])
		} else {
			a.skipCard()
		}
	}
	a.addSet(t.Hands[seat])
	if e.Mode.Tute {
		for i := range e.Mode.Players {
			a.addBits(uint64(p.History.SungSuits(&songs, (seat+i)%e.Mode.Players)), suits)
		}
	}
	a.addSet(p.History.PlayedCards)
	if e.action {
		e.addPoints(&a, t, seat)
	}
	a.addBits(uint64(cards.RuleBits(p.Options())), e.Mode.RuleCount())
}

func (e *Encoder) addPoints(a *adder, t *baraja.Table, seat int) {
	if e.bits {
		a.addBits(uint64(min(t.Points[seat], maxPoints)), pointBits)
		return
	}
	for i := range e.Mode.Players {
		a.addNumber(float32(t.Points[(seat+i)%e.Mode.Players]) / float32(e.Mode.MaxPoints()))
	}
}

// adder appends the parts of an encoded position to s, one after another.
type adder struct {
	s    *net.Inputs
	next int // number of the first input of the next part
	bits bool
}

func (a *adder) addNumber(x float32) {
	a.s.Add(a.next, x)
	a.next++
}

func (a *adder) addOneHot(i, n int) {
	a.s.Add(a.next+i, 1)
	a.next += n
}

func (a *adder) addTrump(c baraja.Card) {
	a.addOneHot(int(c.Suit()), suits)
	if a.bits {
		a.addOneHot(baraja.Strength(c)-1, ranks)
		return
	}
	a.addNumber(float32(baraja.Strength(c)-1) / (ranks - 1))
}

func (a *adder) addCard(c baraja.Card) {
	a.addOneHot(int(c.Suit()), suits)
	if a.bits {
		a.addOneHot(baraja.Strength(c)-1, ranks)
		return
	}
	a.addNumber(float32(baraja.Strength(c)) / ranks)
}

func (a *adder) skipCard() {
	a.next += suits + 1
	if a.bits {
		a.next += ranks - 1
	}
}

// addSet adds the inputs for a set of cards: one for each card if all inputs are 0 or 1, otherwise a single number.
func (a *adder) addSet(set baraja.Set) {
	if !a.bits {
		a.addNumber(float32(float64(cards.Bits40(set)) / all40))
		return
	}
	for ; set != 0; set &= set - 1 {
		a.s.Add(a.next+cards.Index(set.First()), 1)
	}
	a.next += baraja.TableCards
}

// addBits adds the inputs for x, a number of n bits: one for each bit, the lowest first, if all inputs are 0 or 1.
// Otherwise it adds a single number.
func (a *adder) addBits(x uint64, n int) {
	if !a.bits {
		a.addNumber(float32(x) / float32(uint64(1)<<n-1))
		return
	}
	for i := range n {
		if x>>i&1 != 0 {
			a.s.Add(a.next+i, 1)
		}
	}
	a.next += n
}
