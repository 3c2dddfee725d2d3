// Package baraja is the Spanish pack: 48 cards in four suits, or 40 without the eights and nines. It also has
// Table, the parts of the rules that Brisca and Tute share, and HiddenCards, which deals the cards that a seat
// does not see at random.
package baraja

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// Card is a card, encoded as suit*12 + rank-1. In increasing order, the cards are the unshuffled pack: first the suit
// oros, then copas, espadas and bastos, each with increasing ranks. As a rules.Move, the same number is the move that
// plays the card.
type Card uint8

// Suit is a suit from 0 to 3: oros, copas, espadas, bastos.
type Suit uint8

const (
	// Cards is the number of different values of a Card. It includes the eights and nines.
	Cards = 48
	// Ranks is the number of ranks in a suit, from 1 to 12.
	Ranks = 12
	// NoCard stands for "no card" where a Card is required.
	NoCard Card = 255
	// Suits has the letters of the suits in the order of type Suit: oros, copas, espadas, bastos.
	Suits = "oceb"
)

// CardOf returns the card with a rank (1 to 12) and a suit.
func CardOf(rank int, s Suit) Card { return Card(int(s)*Ranks + rank - 1) }

func (c Card) Rank() int { return int(c)%Ranks + 1 }

func (c Card) Suit() Suit { return Suit(c / Ranks) }

// String returns the rank and the letter of the suit, such as "12c" for the 12 of copas, or "?" for a number
// that is not a card.
func (c Card) String() string {
	if c >= Cards {
		return "?"
	}
	return names[c]
}

func (s Suit) String() string { return Suits[s : s+1] }

var names = func() (n [Cards]string) {
	for c := range n {
		n[c] = fmt.Sprintf("%d%c", Card(c).Rank(), Suits[Card(c).Suit()])
	}
	return n
}()

// Parse parses the text of a card: a rank and the letter of a suit, such as "12c". It returns an error for any other
// text.
func Parse(text string) (Card, error) {
	if c := parse(text); c != NoCard {
		return c, nil
	}
	return NoCard, fmt.Errorf("%q is not a card: write rank and suit, as in 12c", text)
}

// parse does the same as Parse, except that it returns NoCard instead of an error.
func parse[T string | []byte](text T) Card {
	last := len(text) - 1
	if last < 1 || last > 2 || text[0] == '0' {
		return NoCard
	}
	rank := 0
	for i := range last {
		if text[i] < '0' || text[i] > '9' {
			return NoCard
		}
		rank = 10*rank + int(text[i]-'0')
	}
	suit := strings.IndexByte(Suits, text[last])
	if suit < 0 || rank == 0 || rank > Ranks {
		return NoCard
	}
	return CardOf(rank, Suit(suit))
}

// Set is a set of cards, with one bit for each card.
type Set uint64

// Has reports whether the set contains a card.
func (s Set) Has(c Card) bool { return s>>c&1 != 0 }

// With returns the set with a card added.
func (s Set) With(c Card) Set { return s | 1<<c }

// Without returns the set with a card removed.
func (s Set) Without(c Card) Set { return s &^ (1 << c) }

// Len returns the number of cards.
func (s Set) Len() int { return bits.OnesCount64(uint64(s)) }

// First returns the lowest card of a non-empty set.
func (s Set) First() Card { return Card(bits.TrailingZeros64(uint64(s))) }

// Nth returns the card with index n, from 0, among the cards of the set in increasing order.
func (s Set) Nth(n int) Card {
	for ; n > 0; n-- {
		s &= s - 1
	}
	return s.First()
}

// OfSuit returns the cards of one suit.
func (s Set) OfSuit(suit Suit) Set { return s & (suitMask << (suit * Ranks)) }

const suitMask Set = 1<<Ranks - 1

// Moves appends to dst the moves that play the cards of the set, in increasing order.
func (s Set) Moves(dst []rules.Move) []rules.Move {
	for ; s != 0; s &= s - 1 {
		dst = append(dst, rules.Move(s.First()))
	}
	return dst
}

// Text appends the cards, joined by commas, to dst, or "-" if the set is empty.
func (s Set) Text(dst []byte) []byte {
	if s == 0 {
		return append(dst, '-')
	}
	for first := true; s != 0; s &= s - 1 {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, names[s.First()]...)
	}
	return dst
}

// Text appends cards in the given order, joined by commas, to dst, or "-" if there are none.
func Text(dst []byte, cards []Card) []byte {
	if len(cards) == 0 {
		return append(dst, '-')
	}
	for i, c := range cards {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, names[c]...)
	}
	return dst
}

// Pack48 is the pack of all 48 cards, and Pack40 the pack of 40 cards without eights and nines. Both are in
// increasing order. They must not be modified.
var (
	Pack48 = pack(48)
	Pack40 = pack(40)
)

// pack39 is Pack40 without the 2 of oros.
var pack39 = slices.DeleteFunc(pack(40), func(c Card) bool { return c == CardOf(2, 0) })

// SetOf returns the set of the given cards.
func SetOf(cards []Card) (s Set) {
	for _, c := range cards {
		s |= c.bit()
	}
	return s
}

func pack(size int) (p []Card) {
	for c := range Card(Cards) {
		if size == 40 && (c.Rank() == 8 || c.Rank() == 9) {
			continue
		}
		p = append(p, c)
	}
	return p
}
