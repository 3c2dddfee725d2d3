// Package decisions computes the heuristic value of playing a card, and the outcome of each decision in a
// game, for the supervised learning of R. Arjonilla's bachelor's thesis (UOC, 2024). Begin with Follower.
package decisions

import (
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

const suits = 4

// Heuristic computes the heuristic value of each card that the seat to move may play. It follows the program of R.
// Arjonilla's thesis (UOC, 2024) with its mistakes. One is that a partner's declaration of the 12 and 11 of a suit (a
// song) counts as that of a rival. Another is that the program takes a wrong card for the best of some tricks, see
// programBest. SetPosition must be called before Worth.
type Heuristic struct {
	tute  bool
	legal baraja.Set // cards that may be played

	trumps              baraja.Suit
	trumpSet            baraja.Set
	leading             bool
	led                 baraja.Suit
	winners             baraja.Set // cards that would be winning the trick
	hasHeavyCard        bool       // an ace or a three is in the trick
	canHigh             bool       // the trick has no trump, and an ace or a three of the suit led would win it
	canSuit             bool       // the trick has no trump, and a card of the suit led would win it
	canTrump            bool       // a trump would win the trick
	hasCheapPlain       bool       // a legal card that is not a trump is worth less than 4
	isThreeBest         bool       // the best card of the trick is the three of trumps
	isPartnerWinning    bool
	playsLastForPartner bool       // isPartnerWinning, and the seat is the last to play
	heavyPlayed         [suits]int // number of aces and threes played, by suit
	maxHeavy            int        // highest of heavyPlayed
	ownSong             baraja.Set // cards of the suit that the seat has declared in this trick
	otherSongs          baraja.Set // cards of the suits that others have declared in this trick
}

var (
	suitSets  = func() (s [suits]baraja.Set) { return suitsOf(baraja.SetOf(baraja.Pack40)) }()
	heavySet  = cardsByValue(func(v int) bool { return v >= 10 })
	cheapSet  = cardsByValue(func(v int) bool { return v < 4 })
	lessSets  = setsBy(func(v, w int) bool { return w < v })
	atMostSet = setsBy(func(v, w int) bool { return w <= v })
)

func suitsOf(all baraja.Set) (s [suits]baraja.Set) {
	for suit := range s {
		s[suit] = all.OfSuit(baraja.Suit(suit))
	}
	return s
}

// cardsByValue returns the set of all cards c for which wanted(v) is true, where v is the points of c.
func cardsByValue(wanted func(int) bool) (s baraja.Set) {
	for _, c := range baraja.Pack40 {
		if wanted(baraja.Value(c)) {
			s = s.With(c)
		}
	}
	return s
}

// setsBy returns a set of cards for each number of points v from 0 to 11, the index. The set has all cards for
// which wanted(v, w) is true, where w is the points of the card.
func setsBy(wanted func(v, w int) bool) (sets [12]baraja.Set) {
	for v := range sets {
		sets[v] = cardsByValue(func(w int) bool { return wanted(v, w) })
	}
	return sets
}

// SetPosition prepares h for the position p, in which the seat to move must play a card.
func (h *Heuristic) SetPosition(p *cards.Position) {
	m, t := p.Mode, p.Board()
	seat := int(t.Mover)
	*h = Heuristic{tute: m.Tute, legal: p.Playable(), trumps: t.Trumps(), trumpSet: suitSets[t.Trumps()], leading: t.TrickSize == 0}
	h.hasCheapPlain = h.legal&^h.trumpSet&cheapSet != 0
	if h.leading {
		h.setLead(p, seat)
		return
	}
	trick := t.Trick()
	lying := baraja.SetOf(trick)
	h.led = trick[0].Suit()
	h.hasHeavyCard = lying&heavySet != 0
	trumped, best := lying&h.trumpSet != 0, t.Best
	if !trumped {
		best = programBest(trick)
	}
	h.winners = baraja.BeatingCards(h.trumps, best)
	if follow := h.legal & suitSets[h.led] & h.winners; !trumped {
		h.canHigh, h.canSuit = follow&heavySet != 0, follow != 0
		h.canTrump = h.legal&h.trumpSet != 0
	} else {
		h.canTrump = h.legal&h.trumpSet&h.winners != 0
	}
	h.isThreeBest = t.Best == baraja.CardOf(3, h.trumps)
	h.isPartnerWinning = m.Teams && len(trick) > 1 && trick[len(trick)-2] == best
	h.playsLastForPartner = h.isPartnerWinning && t.TrickSize == t.Players-1
}

// programBest returns the card that the study's program takes for the best of a trick without trumps. It is the best
// card of the suit led if that card is worth points. Otherwise the program compares the ranks of all cards of 0 points,
// whatever their suits, and takes the highest of these ranks in the suit led. So the returned card may not be in the
// trick.
func programBest(trick []baraja.Card) baraja.Card {
	best := trick[0]
	for _, c := range trick[1:] {
		v, top := baraja.Value(c), baraja.Value(best)
		if c.Suit() == best.Suit() && v > top || v == top && c.Rank() > best.Rank() {
			best = baraja.CardOf(c.Rank(), best.Suit())
		}
	}
	return best
}

func (h *Heuristic) setLead(p *cards.Position, seat int) {
	songs := p.Songs()
	for suit := range h.heavyPlayed {
		h.heavyPlayed[suit] = (p.History.PlayedCards & heavySet & suitSets[suit]).Len()
		h.maxHeavy = max(h.maxHeavy, h.heavyPlayed[suit])
	}
	for other := range p.Mode.Players {
		if song := cardsOfSuits(songs.DeclaredSet(other)); other == seat {
			h.ownSong = song
		} else {
			h.otherSongs |= song
		}
	}
}

// Worth returns the heuristic value of playing card c in the position that was set by SetPosition. It may be
// negative.
func (h *Heuristic) Worth(c baraja.Card) int {
	if h.leading {
		return h.leadWorth(c)
	}
	v := baraja.Value(c)
	trump, wins := c.Suit() == h.trumps, h.winners.Has(c)
	worth := h.aceOverThreeValue(c) + h.partnerTrickValue(v) + h.trickValue(c, v, trump, wins)
	if !wins && !h.isPartnerWinning && (h.legal&lessSets[v] != 0 || h.canHigh || h.canSuit || h.canTrump) {
		worth -= v
	}
	if trump && h.hasCheapPlain {
		if !h.hasHeavyCard {
			worth -= 30
		}
		if !h.canHigh && !h.canTrump {
			worth -= 5
		}
	}
	return worth
}

func (h *Heuristic) leadWorth(c baraja.Card) (worth int) {
	v, suit := baraja.Value(c), c.Suit()
	plain := h.legal &^ h.trumpSet
	isOthersSong := h.otherSongs.Has(c)
	if !h.tute && heavySet.Has(c) && h.legal&lessSets[v] != 0 {
		worth -= 2 * v
	}
	if suit == h.trumps && plain&atMostSet[v] != 0 && (!h.tute || isOthersSong) {
		worth -= 10
	}
	switch {
	case h.maxHeavy == 0:
	case h.heavyPlayed[suit] < h.maxHeavy && plain&h.heaviestSuits() != 0:
		worth -= 5
	case h.heavyPlayed[suit] == h.maxHeavy && suit != h.trumps:
		worth += 5
	}
	if h.ownSong.Has(c) {
		worth -= 20
	}
	switch {
	case isOthersSong:
		worth += 20
	case h.legal&h.otherSongs != 0:
		worth -= 20
	}
	return worth
}

// heaviestSuits returns all cards of the suit in which most aces and threes were played. If several suits have
// equally many, it returns the cards of all these suits.
func (h *Heuristic) heaviestSuits() (s baraja.Set) {
	for suit, n := range h.heavyPlayed {
		if n == h.maxHeavy {
			s |= suitSets[suit]
		}
	}
	return s
}

// cardsOfSuits returns the set of all cards whose suit is in bits. Bit n of bits, counted from the lowest, stands for
// the suit with the number n.
func cardsOfSuits(bits uint8) (s baraja.Set) {
	for suit := range suitSets {
		if bits>>suit&1 != 0 {
			s |= suitSets[suit]
		}
	}
	return s
}

// aceOverThreeValue returns a part of the value of card c. It is 0 unless the three of trumps is the best card of
// the trick so far. Then the ace of trumps has a bonus, and any other card has a penalty if the ace may be played.
func (h *Heuristic) aceOverThreeValue(c baraja.Card) int {
	ace := baraja.CardOf(1, h.trumps)
	switch {
	case !h.isThreeBest:
	case c == ace:
		return 5
	case h.legal.Has(ace):
		return -5
	}
	return 0
}

// partnerTrickValue returns a part of the value of a card that has v points. It is 0 unless the seat plays last in
// a trick that its partner is winning.
func (h *Heuristic) partnerTrickValue(v int) int {
	if !h.playsLastForPartner {
		return 0
	}
	dearest := 0
	for s := h.legal &^ h.trumpSet; s != 0; s &= s - 1 {
		dearest = max(dearest, baraja.Value(s.First()))
	}
	if dearest > v {
		return -(dearest - v)
	}
	return v
}

// trickValue returns the part of the value of card c that depends on winning or losing the trick. v is the points
// of the card. trump reports whether it is a trump, and wins whether it beats all cards in the trick so far.
func (h *Heuristic) trickValue(c baraja.Card, v int, trump, wins bool) int {
	suitLed, heavy := c.Suit() == h.led, heavySet.Has(c)
	switch {
	case !wins && h.hasHeavyCard:
		switch {
		case h.canHigh, h.canTrump && !h.isPartnerWinning:
			return -10
		case h.canSuit && !h.isPartnerWinning:
			return -4
		}
		return 0
	case !wins && h.canHigh:
		return -10
	case wins && h.hasHeavyCard:
		switch {
		case h.canHigh && heavy && suitLed:
			return 10
		case h.canHigh && heavy:
			return -10
		case h.canSuit && suitLed:
			return 8
		}
		return 6
	case wins && h.canHigh:
		if heavy && suitLed {
			return 10
		}
		return -10
	case wins && trump:
		cheapest := v
		for s := h.legal & h.trumpSet & h.winners; s != 0; s &= s - 1 {
			cheapest = min(cheapest, baraja.Value(s.First()))
		}
		return -(v - cheapest)
	}
	return 0
}
