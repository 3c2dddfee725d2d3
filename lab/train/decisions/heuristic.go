// Package decisions has the heuristic value of a card and what a decision of a game came to, as R.
// Arjonilla has them, bachelor's thesis, UOC 2024. Begin with Follower.
package decisions

import (
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

const suits = 4

// Judge values the cards that a seat may play by the thesis's rules. Read sets the position.
type Judge struct {
	tute  bool
	legal baraja.Set // the cards that may be played

	trumps    baraja.Suit
	trumpSet  baraja.Set
	leading   bool
	led       baraja.Suit
	wins      baraja.Set // the cards that would be winning the trick; all when leading
	big       bool       // an ace or a three is in the trick
	canHigh   bool       // the trick has no trump, and an ace or a three of the suit led would win it
	canSuit   bool       // the same with any card of the suit led
	canTrump  bool       // a trump would win from the trick's best trump, or be its first
	low       bool       // a card that is no trump is worth less than 4
	three     bool       // the best trump of the trick is the three
	partner   bool       // the partner is winning the trick
	lastMate  bool       // and the seat is the last to play
	heavy     [suits]int // aces and threes played, by suit
	most      int        // of them
	ourSongs  uint8      // suits of songs of the seat and its partner
	rivalSong uint8      // suits of songs of the others
}

var (
	suitSets  = func() (s [suits]baraja.Set) { return suitsOf(baraja.SetOf(baraja.Pack40)) }()
	heavySet  = ofValue(func(v int) bool { return v >= 10 })
	cheapSet  = ofValue(func(v int) bool { return v < 4 })
	lessSets  = setsBy(func(v, w int) bool { return w < v })
	atMostSet = setsBy(func(v, w int) bool { return w <= v })
)

func suitsOf(all baraja.Set) (s [suits]baraja.Set) {
	for suit := range s {
		s[suit] = all.Of(baraja.Suit(suit))
	}
	return s
}

// ofValue returns the cards whose value is as wanted.
func ofValue(wanted func(int) bool) (s baraja.Set) {
	for _, c := range baraja.Pack40 {
		if wanted(baraja.Value(c)) {
			s = s.With(c)
		}
	}
	return s
}

// setsBy returns, by the value of a card, the cards whose value is as wanted.
func setsBy(wanted func(v, w int) bool) (sets [12]baraja.Set) {
	for v := range sets {
		sets[v] = ofValue(func(w int) bool { return wanted(v, w) })
	}
	return sets
}

// Read sets the position, in which a seat is to play a card.
func (j *Judge) Read(p *cards.Position) {
	m, t := p.Mode, p.Board()
	seat := int(t.Mover)
	*j = Judge{tute: m.Tute, legal: p.Playable(), trumps: t.Trumps(), trumpSet: suitSets[t.Trumps()], leading: t.InTrick == 0}
	j.low = j.legal&^j.trumpSet&cheapSet != 0
	if j.leading {
		j.readLead(p, seat)
		return
	}
	trick := t.Trick()
	lying := baraja.SetOf(trick)
	j.led = trick[0].Suit()
	j.wins = baraja.Beats(j.trumps, t.Best)
	j.big = lying&heavySet != 0
	trumped := lying&j.trumpSet != 0
	if follow := j.legal & suitSets[j.led] & j.wins; !trumped {
		j.canHigh, j.canSuit = follow&heavySet != 0, follow != 0
		j.canTrump = j.legal&j.trumpSet != 0
	} else {
		j.canTrump = j.legal&j.trumpSet&j.wins != 0
	}
	j.three = t.Best == baraja.Of(3, j.trumps)
	j.partner = m.Teams && int(t.Winner)%2 == seat%2
	j.lastMate = j.partner && t.InTrick == t.Players-1
}

func (j *Judge) readLead(p *cards.Position, seat int) {
	m, songs := p.Mode, p.Songs()
	for suit := range j.heavy {
		j.heavy[suit] = (p.Watch.Seen & heavySet & suitSets[suit]).Len()
		j.most = max(j.most, j.heavy[suit])
	}
	if !m.Tute {
		return
	}
	for other := range m.Players {
		if m.Side(other) == m.Side(seat) {
			j.ourSongs |= p.Watch.Sung(&songs, other)
		} else {
			j.rivalSong |= p.Watch.Sung(&songs, other)
		}
	}
}

// Worth returns the heuristic value of playing a card.
func (j *Judge) Worth(c baraja.Card) int {
	if j.leading {
		return j.leadWorth(c)
	}
	v := baraja.Value(c)
	trump, wins := c.Suit() == j.trumps, j.wins.Has(c)
	worth := j.overThree(c) + j.mate(v) + j.trick(c, v, trump, wins)
	if !wins && !j.partner && (j.legal&lessSets[v] != 0 || j.canHigh || j.canSuit || j.canTrump) {
		worth -= v
	}
	if trump && j.low {
		if !j.big {
			worth -= 30
		}
		if !j.canHigh && !j.canTrump {
			worth -= 5
		}
	}
	return worth
}

func (j *Judge) leadWorth(c baraja.Card) (worth int) {
	v, suit := baraja.Value(c), c.Suit()
	plain := j.legal &^ j.trumpSet
	rival := j.rivalSong>>suit&1 != 0
	if !j.tute && heavySet.Has(c) && j.legal&lessSets[v] != 0 {
		worth -= 2 * v
	}
	if suit == j.trumps && plain&atMostSet[v] != 0 && (!j.tute || rival) {
		worth -= 10
	}
	switch {
	case j.most > 0 && j.heavy[suit] < j.most && plain&j.ofMost() != 0:
		worth -= 5
	case j.heavy[suit] == j.most && suit != j.trumps:
		worth += 5
	}
	switch {
	case j.ourSongs>>suit&1 != 0:
		worth -= 20
	case rival:
		worth += 20
	case j.legal&songSuits(j.rivalSong) != 0:
		worth -= 20
	}
	return worth
}

// ofMost returns the cards of the suits of which most aces and threes are played.
func (j *Judge) ofMost() (s baraja.Set) {
	for suit, n := range j.heavy {
		if n == j.most {
			s |= suitSets[suit]
		}
	}
	return s
}

func songSuits(bits uint8) (s baraja.Set) {
	for suit := range suitSets {
		if bits>>suit&1 != 0 {
			s |= suitSets[suit]
		}
	}
	return s
}

// overThree values the ace of trumps where the three may be taken with it.
func (j *Judge) overThree(c baraja.Card) int {
	ace := baraja.Of(1, j.trumps)
	switch {
	case !j.three:
	case c == ace:
		return 5
	case j.legal.Has(ace):
		return -5
	}
	return 0
}

// mate values points for a partner who wins the trick, when nobody plays behind.
func (j *Judge) mate(v int) int {
	if !j.lastMate {
		return 0
	}
	dearest := 0
	for s := j.legal &^ j.trumpSet; s != 0; s &= s - 1 {
		dearest = max(dearest, baraja.Value(s.First()))
	}
	if dearest > v {
		return -(dearest - v)
	}
	return v
}

// trick values winning or losing the trick as it lies.
func (j *Judge) trick(c baraja.Card, v int, trump, wins bool) int {
	suitLed, heavy := c.Suit() == j.led, heavySet.Has(c)
	switch {
	case !wins && j.big:
		switch {
		case j.canHigh, j.canTrump && !j.partner:
			return -10
		case j.canSuit && !j.partner:
			return -4
		}
		return 0
	case !wins && j.canHigh:
		return -10
	case wins && j.big:
		switch {
		case j.canHigh && heavy && suitLed:
			return 10
		case j.canHigh && heavy:
			return -10
		case suitLed:
			return 8
		}
		return 6
	case wins && j.canHigh:
		if heavy && suitLed {
			return 10
		}
		return -10
	case wins && trump:
		cheapest := v
		for s := j.legal & j.trumpSet & j.wins; s != 0; s &= s - 1 {
			cheapest = min(cheapest, baraja.Value(s.First()))
		}
		return -(v - cheapest)
	}
	return 0
}
