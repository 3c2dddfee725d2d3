// Package features turns positions of Brisca and Tute into inputs of nets. Encoder does it as in R. Arjonilla's
// bachelor's thesis, UOC 2024; CompleteEncoder is independent of that thesis.
package features

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// Names of encodings. An encoding defines how a position of Brisca or Tute becomes the inputs of a net.
const (
	// Program is the encoding of the final nets of R. Arjonilla's thesis, as the program of the thesis computes it. It
	// has 56 inputs in Brisca with two players, and up to 76 in Tute with four.
	Program = "program"
	// Scaled is an earlier version of Program. Some models that are built into timba were trained with it.
	Scaled = "scaled"
	// Genetic is the encoding for nets that a genetic search breeds. It has no inputs for the points and for the move.
	Genetic = "genetic"
)

const (
	ranks     = 10 // number of cards in a suit; their strengths count from 1
	suits     = 4
	pointBits = 7                        // number of inputs of the part points-binary; 127 also stands for more points
	all40     = 1<<baraja.TableCards - 1 // the set of all cards
)

// encodings has the names of the encodings and, for each, the names of its parts in the order of the inputs; the
// variable parts defines them. table6 to table11 have the inputs of the tables with these numbers in R. Arjonilla's
// thesis. The program of the thesis has the inputs of the others, except for scaled and unscaled, which are earlier
// versions of program and table9. lab/README.md describes the parts.
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

// ActionEncodings returns the names of the encodings with an input for each action (each different move, numbered from
// 0). A net with such an encoding rates one move in a position: the input of this move is 1.
func ActionEncodings() (names []string) {
	for _, e := range encodings {
		if strings.HasSuffix(e.parts, " action") {
			names = append(names, e.name)
		}
	}
	return names
}

// part defines one part of an encoding. The inputs of a part are divided into units of equal size. For example, the
// part for the trick has a unit for each card, and a unit has inputs for the suit and the strength of its card.
type part struct {
	inputs int                    // number of inputs of each unit
	units  func(cards.Mode) int   // returns the number of units in a mode, which is a game with certain options
	add    func(v view, unit int) // sets the inputs of the unit with this index; nil for the part "action"
}

// parts maps the name of each part of an encoding to its definition. In a part with a group of inputs (a unit) for each
// seat, the first unit is for the seat that sees the position, and the others follow in the order of the seats. In the
// part rivals-bits the first unit is for the next seat. In the parts for the trick, the first unit is for the card that
// was led.
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

// firstCardHighest returns the set s as a number of 40 bits, one for each card. The highest of the 40 bits stands for
// the first card of the unshuffled pack, the lowest for the last card.
func firstCardHighest(s baraja.Set) uint64 {
	return bits.Reverse64(cards.Bits40(s)) >> (64 - baraja.TableCards)
}

// Encoder turns positions of one mode, which is a game with certain options, into inputs of a net. NewEncoder makes an
// Encoder.
type Encoder struct {
	Mode        cards.Mode
	parts       []part
	inputs      int
	playedStart int // index of the first input of the part played-bits
}

// NewEncoder returns an encoder for positions of the mode m (a game with certain options). encoding is the name of an
// encoding: Genetic, or one that ActionEncodings returns. Any other name is an error, which lists the names.
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

// Inputs returns the number of inputs that a net must have for this encoding.
func (e *Encoder) Inputs() int { return e.inputs }

// ActionInput returns the index of the input that is 1 if the net shall rate the given action (a move, numbered as by
// cards.Action). The encoding must be one that ActionEncodings returns.
func (e *Encoder) ActionInput(action int) int { return e.inputs - e.Mode.Actions() + action }

// PlayedInput returns the index of the input that is 1 if the card c was played. The encoding must be Genetic.
func (e *Encoder) PlayedInput(c baraja.Card) int { return e.playedStart + cards.Index(c) }

// AppendState adds to s the inputs for what the given seat may know of the position p. It does not add the input for
// the action (the move to be rated).
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

// view is a position of a card game as one seat sees it, together with the index of an input of a net. The add methods
// of view set the group of neighboring inputs that begins at this index.
type view struct {
	s     *net.Inputs // receives the inputs
	first int         // index of the first input of the group
	p     *cards.Position
	seat  int // the seat that sees the position
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

// addCard sets two inputs of the current unit to 1: the one for the suit of c and the one for the strength of c.
func (v view) addCard(c baraja.Card) {
	v.s.Add(v.first+int(c.Suit()), 1)
	v.s.Add(v.first+suits+baraja.Strength(c)-1, 1)
}

// addScaledCard sets the inputs of the current unit for the card c: the one of its suit to 1, and one for its strength
// to a number from 0 to 1. A card of the strength lowest gets 0, and the strongest card, of strength 10, gets 1.
func (v view) addScaledCard(c baraja.Card, lowest int) {
	v.s.Add(v.first+int(c.Suit()), 1)
	v.addRatio(suits, uint64(baraja.Strength(c)-lowest), uint64(ranks-lowest))
}

// addTrickCard calls add with the card at index i of the current trick; the card that was led has the index 0. If this
// card has not been played yet, addTrickCard does nothing, so that the inputs for the card are 0.
func (v view) addTrickCard(i int, add func(view, baraja.Card)) {
	if trick := v.table().Trick(); i < len(trick) {
		add(v, trick[i])
	}
}

// addBits sets the inputs of the current unit to the bits of set. Bit i, counted from the lowest, is for input i of the
// unit.
func (v view) addBits(set uint64) {
	for ; set != 0; set &= set - 1 {
		v.s.Add(v.first+bits.TrailingZeros64(set), 1)
	}
}

// addInterval sets one input of the current unit to 1: the one for the interval (cards.PointInterval) of the points of
// a seat. n says how many seats that seat comes after the seat that sees the position.
func (v view) addInterval(n int) { v.s.Add(v.first+cards.PointInterval(v.points(n)), 1) }

// addRatio sets input i of the current unit to x divided by whole.
func (v view) addRatio(i int, x, whole uint64) {
	v.s.Add(v.first+i, float32(float64(x)/float64(whole)))
}
