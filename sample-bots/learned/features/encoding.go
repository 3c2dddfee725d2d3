// Package features encodes positions of Brisca and Tute as inputs of nets: by Encoder, which follows R.
// Arjonilla, bachelor's thesis, UOC 2024, or by CompleteEncoder, which does not.
package features

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// Names of encodings of a position as inputs of a net.
const (
	// Program is the encoding of the thesis's final nets, as its program computes it. It has 56 to 76 inputs.
	Program = "program"
	// Scaled is an earlier version of Program, which some models in the house bots have.
	Scaled = "scaled"
	// Genetic is the encoding of nets of a genetic search. It has no inputs for the points and the action.
	Genetic = "genetic"
)

const (
	ranks     = 10 // number of cards in a suit; their strengths count from 1
	suits     = 4
	pointBits = 7 // number of bits of points-binary; 127 also stands for more points
	all40     = 1<<baraja.TableCards - 1
)

// encodings has the parts of each encoding, in the order of the inputs. The tables are those of the thesis; the inputs of
// the others are in its program, except for scaled and unscaled. lab/README.md describes the parts.
var encodings = []struct{ name, parts string }{
	{Program, "trump-scaled trick-scaled hand-number songs-number played-number points-number rules-number action"},
	{"program-bits", "trump-bits trick-bits hand-bits songs-bits played-bits points-intervals rules-bits action"},
	{"table6", "trump-bits trick-bits hand-bits rivals-bits songs-bits played-bits points-own rules-bits action"},
	{"table9", "trump-bits trick-bits hand-bits songs-bits played-bits points-own rules-bits action"},
	{"table10", "trump-scaled trick-scaled hand-bits songs-bits played-bits points-own rules-bits action"},
	{"table11", "trump-scaled trick-scaled hand-number songs-bits played-number points-own rules-number action"},
	{Scaled, "trump-scaled trick-scaled hand-low sung-number played-low points-number rules-number action"},
	{"unscaled", "trump-bits trick-bits hand-bits sung-bits played-bits points-binary rules-bits action"},
	{Genetic, "trump-bits trick-bits hand-bits sung-bits played-bits rules-bits"},
}

// ActionEncodings returns the names of the encodings that have inputs for an action.
func ActionEncodings() (names []string) {
	for _, e := range encodings {
		if strings.HasSuffix(e.parts, " action") {
			names = append(names, e.name)
		}
	}
	return names
}

// part is a part of an encoded position. It consists of units, such as the cards of a trick, which have the same number
// of inputs.
type part struct {
	inputs int                    // number of inputs of a unit
	units  func(cards.Mode) int   // number of units
	add    func(v view, unit int) // sets the inputs of a unit
}

// parts has the parts of encodings by name. Units for seats begin with the own seat, those for rivals with the next one.
var parts = map[string]part{
	"trump-bits":   {suits + ranks, singleUnit, func(v view, _ int) { v.addCard(v.table().Trump) }},
	"trump-scaled": {suits + 1, singleUnit, func(v view, _ int) { v.addScaledCard(v.table().Trump, 1) }},
	"trick-bits":   {suits + ranks, rivals, func(v view, i int) { v.addTrickCard(i, view.addCard) }},
	"trick-scaled": {suits + 1, rivals, func(v view, i int) { v.addTrickCard(i, func(v view, c baraja.Card) { v.addScaledCard(c, 0) }) }},

	"hand-bits":   {baraja.TableCards, singleUnit, func(v view, _ int) { v.addBits(cards.Bits40(v.hand())) }},
	"hand-number": {1, singleUnit, func(v view, _ int) { v.addRatio(0, firstCardHighest(v.hand())-1, all40-1) }},
	"hand-low":    {1, singleUnit, func(v view, _ int) { v.addRatio(0, cards.Bits40(v.hand()), all40) }},
	"rivals-bits": {baraja.TableCards, rivals, func(v view, i int) { v.addBits(cards.Bits40(v.table().KnownCards[v.seatAfter(i+1)])) }},

	"songs-bits":   {suits, singers, func(v view, i int) { v.addBits(v.declaredSet(i)) }},
	"songs-number": {1, singers, func(v view, i int) { v.addRatio(0, uint64(bits.Len64(v.declaredSet(i))), suits) }},
	"sung-bits":    {suits, singers, func(v view, i int) { v.addBits(v.sungSet(i)) }},
	"sung-number":  {1, singers, func(v view, i int) { v.addRatio(0, v.sungSet(i), 1<<suits-1) }},

	playedBits:      {baraja.TableCards, singleUnit, func(v view, _ int) { v.addBits(cards.Bits40(v.p.History.PlayedCards)) }},
	"played-number": {1, singleUnit, func(v view, _ int) { v.addRatio(0, firstCardHighest(v.p.History.PlayedCards), all40) }},
	"played-low":    {1, singleUnit, func(v view, _ int) { v.addRatio(0, cards.Bits40(v.p.History.PlayedCards), all40) }},

	"points-own":       {cards.PointIntervals, singleUnit, view.addInterval},
	"points-intervals": {cards.PointIntervals, seats, view.addInterval},
	"points-number":    {1, seats, func(v view, i int) { v.addRatio(0, uint64(v.points(i)), uint64(v.p.Mode.MaxPoints())) }},
	"points-binary":    {pointBits, singleUnit, func(v view, i int) { v.addBits(uint64(min(v.points(i), 1<<pointBits-1))) }},

	"rules-bits":   {1, cards.Mode.RuleCount, func(v view, i int) { v.addBits(v.rules() >> i & 1) }},
	"rules-number": {1, singleUnit, func(v view, _ int) { v.addRatio(0, v.rules(), 1<<v.p.Mode.RuleCount()-1) }},
	"action":       {1, cards.Mode.Actions, nil}, // always the last part; ActionInput finds its inputs
}

const playedBits = "played-bits"

func singleUnit(cards.Mode) int { return 1 }
func seats(m cards.Mode) int    { return m.Players }
func rivals(m cards.Mode) int   { return m.Players - 1 }

func singers(m cards.Mode) int {
	if m.Tute {
		return m.Players
	}
	return 0
}

// firstCardHighest returns s as a number of 40 bits, in which the first card of the unshuffled pack has the highest bit.
func firstCardHighest(s baraja.Set) uint64 {
	return bits.Reverse64(cards.Bits40(s)) >> (64 - baraja.TableCards)
}

// Encoder encodes positions of one mode (a game with certain options) as inputs of a net.
type Encoder struct {
	Mode        cards.Mode
	parts       []part
	inputs      int
	playedStart int // number of the first input of the part played-bits
}

// NewEncoder returns an encoder for positions of the mode m. encoding is one of ActionEncodings, or Genetic.
func NewEncoder(m cards.Mode, encoding string) (Encoder, error) {
	e := Encoder{Mode: m}
	var names []string
	for _, known := range encodings {
		names = append(names, known.name)
		if known.name != encoding {
			continue
		}
		for name := range strings.FieldsSeq(known.parts) {
			if name == playedBits {
				e.playedStart = e.inputs
			}
			p := parts[name]
			e.parts = append(e.parts, p)
			e.inputs += p.inputs * p.units(m)
		}
		return e, nil
	}
	return e, fmt.Errorf("encoding %q does not exist: try %s", encoding, strings.Join(names, ", "))
}

// Inputs returns the number of inputs of the net.
func (e *Encoder) Inputs() int { return e.inputs }

// ActionInput returns the number of the input that is 1 for the given action. The encoding must be one of
// ActionEncodings.
func (e *Encoder) ActionInput(action int) int { return e.inputs - e.Mode.Actions() + action }

// PlayedInput returns the number of the input that is 1 after c was played. The encoding must be Genetic.
func (e *Encoder) PlayedInput(c baraja.Card) int { return e.playedStart + cards.Index(c) }

// AppendState adds to s the inputs for what the given seat may know of p. It adds no input for the action.
func (e *Encoder) AppendState(s *net.Inputs, p *cards.Position, seat int) {
	v := view{s: s, p: p, seat: seat}
	for i := range e.parts {
		p := &e.parts[i]
		if p.add == nil {
			return
		}
		for unit := range p.units(e.Mode) {
			p.add(v, unit)
			v.first += p.inputs
		}
	}
}

// view is a position as a seat sees it, and where the inputs for a unit of a part begin.
type view struct {
	s     *net.Inputs
	first int // number of the first input
	p     *cards.Position
	seat  int
}

func (v view) table() *baraja.Table { return v.p.Board() }
func (v view) seatAfter(n int) int  { return (v.seat + n) % v.p.Mode.Players }
func (v view) hand() baraja.Set     { return v.table().Hands[v.seat] }
func (v view) points(n int) int16   { return max(0, v.table().Points[v.seatAfter(n)]) }
func (v view) rules() uint64        { return uint64(cards.RuleBits(v.p.Options())) }

func (v view) declaredSet(n int) uint64 {
	songs := v.p.Songs()
	return uint64(songs.DeclaredSet(v.seatAfter(n)))
}

func (v view) sungSet(n int) uint64 {
	songs := v.p.Songs()
	return uint64(v.p.History.SungSuits(&songs, v.seatAfter(n)))
}

// addCard adds the suit and the strength of c as one bit each.
func (v view) addCard(c baraja.Card) {
	v.s.Add(v.first+int(c.Suit()), 1)
	v.s.Add(v.first+suits+baraja.Strength(c)-1, 1)
}

// addScaledCard adds the suit of c as one bit, and its strength as a number from 0 to 1. lowest is the strength for 0.
func (v view) addScaledCard(c baraja.Card, lowest int) {
	v.s.Add(v.first+int(c.Suit()), 1)
	v.addRatio(suits, uint64(baraja.Strength(c)-lowest), uint64(ranks-lowest))
}

// addTrickCard calls add with the card at index i of the trick. If it is not played yet, its inputs remain 0.
func (v view) addTrickCard(i int, add func(view, baraja.Card)) {
	if trick := v.table().Trick(); i < len(trick) {
		add(v, trick[i])
	}
}

// addBits sets input i of the unit to 1 for each bit i of set.
func (v view) addBits(set uint64) {
	for ; set != 0; set &= set - 1 {
		v.s.Add(v.first+bits.TrailingZeros64(set), 1)
	}
}

// addInterval sets the input for the interval of the points of the seat after n others.
func (v view) addInterval(n int) { v.s.Add(v.first+cards.PointInterval(v.points(n)), 1) }

// addRatio sets input i of the unit to x / whole.
func (v view) addRatio(i int, x, whole uint64) {
	v.s.Add(v.first+i, float32(float64(x)/float64(whole)))
}
