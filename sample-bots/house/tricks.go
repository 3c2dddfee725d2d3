package house

import "github.com/timba-arena/timba/rules/baraja"

// trickView is what the seat to move knows in a trick-taking game.
type trickView struct {
	seat, players int
	hand          baraja.Set
	unseen        baraja.Set // cards of the pack that are hidden from this seat
	trumps        baraja.Suit
	trick         []baraja.Card
}

func (v *trickView) seatsAfter() int { return v.players - len(v.trick) - 1 }

// randomUnbeatenChance returns the probability that none of n cards is in the set better, if each is drawn at
// random from hidden. If hidden is empty, it returns 1.
func randomUnbeatenChance(better baraja.Set, hidden baraja.Set, n int) float64 {
	total := hidden.Len()
	if total == 0 {
		return 1
	}
	return power(1-float64((better&hidden).Len())/float64(total), n)
}

// forcedUnbeatenChance returns the probability that none of the next n seats beats the card best. better has the
// cards that beat it. The rules are assumed to force each seat to win the trick if it can: to follow suit, with a
// stronger card if possible, and to trump otherwise.
func (v *trickView) forcedUnbeatenChance(best baraja.Card, better baraja.Set, n int) float64 {
	led := best.Suit()
	if len(v.trick) > 0 {
		led = v.trick[0].Suit()
	}
	better &= v.unseen
	holds := 1.0
	if best.Suit() == led {
		holds = v.lackChance(better.OfSuit(led))
	}
	if led != v.trumps { // a void seat ruffs or overruffs
		holds *= 1 - v.lackChance(v.unseen.OfSuit(led))*(1-v.lackChance(better.OfSuit(v.trumps)))
	}
	return power(holds, n)
}

// lackChance returns the probability that a hand of another seat has none of the given cards. It assumes that the
// hand has as many cards as this one, and that hidden cards are distributed at random.
func (v *trickView) lackChance(cards baraja.Set) float64 {
	return power(1-float64(cards.Len())/float64(max(1, v.unseen.Len())), v.hand.Len())
}

func power(x float64, n int) float64 {
	p := 1.0
	for ; n > 0; n-- {
		p *= x
	}
	return p
}
