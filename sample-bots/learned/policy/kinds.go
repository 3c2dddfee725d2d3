package policy

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// The abstraction Kinds has thousands of states where the others have millions. The kind of a card consists of
//
//   - its worth: 0 points, a 10, a 12 or 11, one of a pair of 12 and 11 that is not scored, a 3, or a 1; in
//     Tute a 10 counts as a 12 or 11
//   - whether it is a trump
//   - whether it takes the trick or, if the seat leads, whether no unseen card of its suit is higher
//
// The actions are the kinds of the legal cards, each for its weakest card, the exchange, and the
// declarations of pairs, which are all alike. The key consists of the legal actions and
//
//   - the number of trumps in the hand, at most 3 or, in Tute, 1
//   - the phase: cards are drawn, the next trick is the last before a draw, or no card is left to draw; in
//     the second phase also the worth of the trump card, in the third the size of the hand, at most 4
//   - unless the seat leads, the points in the trick (0, to 4, to 9, more), whether it is trumped, whether
//     the partner is winning it, and whether none, one or more seats play to it after the mover.
const (
	kindExchange = worths * 4
	kindSing     = kindExchange + 1
	worths       = 6
)

// kinds sets v to the key and the legal actions of the seat to move in p, as the abstraction Kinds defines them: it
// replaces cards by kinds of cards. legal has the legal moves of p.
func (v *View) kinds(p *cards.Position, legal []rules.Move) {
	t := p.Board()
	seat := int(t.Mover)
	var winning baraja.Set // cards for which the flag is set, unless the seat leads
	if t.TrickSize > 0 {
		winning = baraja.BeatingCards(t.Trumps(), t.Best)
	}
	unseen := t.Unseen(seat)
	var pairs baraja.Set
	if p.Mode.Tute {
		pairs = baraja.Pairs(t.Hands[seat], p.Songs().ScoredSuits)
	}
	var strength [MaxActions]int
	for _, m := range legal {
		if m >= baraja.SwapMove {
			v.add(kindOfOther(m), m)
			continue
		}
		c := baraja.Card(m)
		flag := winning.Has(c)
		if t.TrickSize == 0 {
			flag = baraja.BeatingCards(t.Trumps(), c).OfSuit(c.Suit())&unseen == 0
		}
		kind := 4 * worth(c, pairs, p.Mode.Tute)
		if c.Suit() == t.Trumps() {
			kind += 2
		}
		if flag {
			kind++
		}
		if v.Legal>>kind&1 == 0 || baraja.Strength(c) < strength[kind] {
			v.add(kind, m)
			strength[kind] = baraja.Strength(c)
		}
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v.Legal|situation(p)<<32)
	v.Key = NewKey(xxhash.Sum64(b[:]))
}

func kindOfOther(m rules.Move) int {
	if cards.Action(m) == cards.ExchangeAction {
		return kindExchange
	}
	return kindSing
}

// worth returns the class of a card by its points, from 0 to 5, for the keys of the abstraction Kinds. pairs has
// the cards that belong to pairs (12 and 11 of a suit) that were not scored. tute is set if the game is Tute.
func worth(c baraja.Card, pairs baraja.Set, tute bool) int {
	switch baraja.Value(c) {
	case 0:
		return 0
	case 2:
		if tute {
			return 2
		}
		return 1
	case 10:
		return 4
	case 11:
		return 5
	}
	if pairs.Has(c) {
		return 3
	}
	return 2
}

// situation returns the part of a key of the abstraction Kinds that does not depend on the legal actions of the
// seat to move.
func situation(p *cards.Position) uint64 {
	t := p.Board()
	limit := 3
	if p.Mode.Tute {
		limit = 1
	}
	x := uint64(min(limit, t.Hands[t.Mover].OfSuit(t.Trumps()).Len()))
	x = x<<2 | phase(t)
	x = x<<2 | detail(t)
	if t.TrickSize == 0 {
		return x << 1
	}
	x = x<<2 | potClass(t.Pot)
	for _, fact := range [...]bool{
		t.Best.Suit() == t.Trumps(),
		p.Mode.Teams && int(t.Winner)%2 == int(t.Mover)%2,
		t.TrickSize+1 < t.Players,
		true, // the seat does not lead
	} {
		x <<= 1
		if fact {
			x |= 1
		}
	}
	if t.TrickSize+2 < t.Players {
		x |= severalBehind
	}
	return x
}

// severalBehind is the bit in the result of situation that is set if more than one seat plays to the trick
// after the seat to move. It is above all other bits.
const severalBehind = 1 << 20

// phase returns 0 while cards are drawn, 1 when only one more draw follows, and 2 when the stock is used up.
func phase(t *baraja.Table) uint64 {
	switch {
	case t.StockSize() == 0:
		return 2
	case t.StockSize() <= int(t.Players):
		return 1
	}
	return 0
}

func potClass(pot uint8) uint64 {
	switch {
	case pot == 0:
		return 0
	case pot < 5:
		return 1
	case pot < 10:
		return 2
	}
	return 3
}

// detail returns a part of a key that depends on the phase of the game: 0 in phase 0, while cards are drawn; the
// class of the trump card by its points in phase 1, before the last draw; the size of the hand minus 1, at most 3,
// in phase 2.
func detail(t *baraja.Table) uint64 {
	switch value := baraja.Value(t.Trump); {
	case phase(t) == 2:
		return uint64(min(t.Hands[t.Mover].Len(), 4) - 1)
	case phase(t) == 0 || value == 0:
		return 0
	case value < 10:
		return 1
	}
	return 2
}
