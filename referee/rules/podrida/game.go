// Package podrida is La Podrida, a trick game of exact bids for 3 to 12 seats
// with the Spanish pack.
//
// The pack has 48 cards (1 to 12 of each suit) or 40 (without 8 and 9). Within
// a suit the cards rank 1, 12, 11, 10, 9, 8, 7 down to 2.
//
// Rounds of 1, 2, ... max cards are played, max being the pack divided by the
// seats, rounded down; with rounds=updown they then go down again to 1, max
// being played once. The dealer of round 1 is the last seat and the deal moves
// on by one seat each round. Every round shuffles the pack anew from its
// starting order, on the same stream, and deals one card at a time from the
// seat after the dealer. The next card is turned up and its suit is trumps; when
// the pack is used up, the last card dealt, the dealer's, is shown to all and
// its suit is trumps.
//
// From the seat after the dealer on, each seat bids how many tricks it will
// win, 0 to the number of cards. From round 3 on the last bidder, the dealer,
// may not make the sum of the bids equal the number of cards.
//
// The seat after the dealer leads to the first trick, the winner of a trick to
// the next. The other seats must follow suit, and following they must beat the
// card that is winning if they can, unless the trick has been trumped and the
// suit led is not trumps. Void in the suit led, a seat must trump if it can:
// above the trumps in the trick if it can, with any trump otherwise. Without
// trumps it plays anything. The highest trump wins the trick, else the highest
// card of the suit led.
//
// A seat that wins exactly its bid scores 10 and a point a trick, any other -10.
// The points are the sums over the rounds; the seats rank by points.
package podrida

import (
	"strconv"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// Game is La Podrida; its zero value is ready for use.
type Game struct{}

// Name returns the name of the game in commands and in the protocol.
func (Game) Name() string { return name }

const (
	name     = "podrida"
	minSeats = 3
	maxSeats = rules.MaxSeats
	// maxCards is the most cards that a hand ever has: the large pack for three.
	maxCards = baraja.Cards / minSeats
	// MostMoves is the most moves that a position has: the bids on the largest hand.
	MostMoves = maxCards + 1
)

// Options returns the number of seats, the pack, and how the rounds run.
func (Game) Options() []rules.Option {
	return []rules.Option{
		{Name: "players", Min: minSeats, Max: maxSeats, Default: 4, Help: "how many seats play"},
		{Name: "deck", Values: []string{"48", "40"}, Help: "the pack: 48 cards, or 40 without the eights and nines"},
		{Name: "rounds", Values: []string{"up", "updown"}, Help: "hands of 1, 2, ... cards up to the most that the pack gives, or up and down to 1 again"},
	}
}

// Rules returns the rules of the game for people.
func (Game) Rules() string {
	return `La Podrida is played with the Spanish pack of 48 cards (deck=40 leaves out the
eights and nines) by 3 to 12 players. In each suit the cards rank 1, 12, 11, 10,
9, 8, 7, 6, 5, 4, 3, 2.

Round 1 deals one card each, round 2 two cards, and so on for as long as the pack
suffices; with rounds=updown the hands then get smaller again, down to one card.
The last seat deals first; the deal moves on by one seat each round. Cards are
dealt one at a time from the seat after the dealer. The next card is turned up
and its suit is trumps. When no card is left, the last one dealt, which is the
dealer's, is shown to all and its suit is trumps.

Starting after the dealer, everyone says how many tricks they will win. From the
third round on the dealer, who bids last, may not make the bids add up to the
number of cards: somebody has to fail.

The seat after the dealer leads, then the winner of each trick. You must follow
suit, and beat the winning card if you can; you need not when somebody has
trumped a trick of another suit. If you cannot follow you must trump, above the
trumps in the trick if you can, with any trump otherwise. If you have no trump
either, play anything. The highest trump wins, or else the highest card of the
suit led.

Winning exactly as many tricks as you bid scores 10 points and one more for each
trick; anything else costs 10 points. Most points at the end wins.
`
}

// Display returns the table of a trick game.
func (Game) Display() rules.Display {
	return rules.Display{Title: "La Podrida", Cards: Ranking.Display()}
}

// Variant resolves the options. Every combination is valid.
func (Game) Variant(o rules.Settings) (rules.Variant, error) {
	return Variant{Rules{
		Players: uint8(o.Int("players")),
		Deck:    uint8(o.Int("deck")),
		UpDown:  o.Get("rounds") == "updown",
	}}, nil
}

// Rules is the resolved options. It is comparable.
type Rules struct {
	Players uint8 // 3 to 12
	Deck    uint8 // 48 or 40
	UpDown  bool
}

// Max returns the number of cards of the largest hand.
func (r Rules) Max() int { return int(r.Deck / r.Players) }

// Rounds returns how many rounds a game has.
func (r Rules) Rounds() int {
	if r.UpDown {
		return 2*r.Max() - 1
	}
	return r.Max()
}

// Cards returns the size of the hands of a round, counted from 1.
func (r Rules) Cards(round int) int {
	if largest := r.Max(); round > largest {
		return 2*largest - round
	}
	return round
}

// plies returns how many moves are made before a round.
func (r Rules) plies(round int) (n uint16) {
	for earlier := 1; earlier < round; earlier++ {
		n += uint16(r.Players) * uint16(1+r.Cards(earlier))
	}
	return n
}

// pack returns the cards before a shuffle; it must not be written to.
func (r Rules) pack() []baraja.Card {
	if r.Deck == baraja.Cards {
		return baraja.Pack48
	}
	return baraja.Pack40
}

// packSet returns the cards as a set.
func (r Rules) packSet() baraja.Set {
	if r.Deck == baraja.Cards {
		return set48
	}
	return set40
}

var set48, set40 = baraja.SetOf(baraja.Pack48), baraja.SetOf(baraja.Pack40)

// Variant is La Podrida with its options resolved.
type Variant struct{ Rules Rules }

// Game returns La Podrida.
func (Variant) Game() rules.Game { return Game{} }

// Settings returns the options with their values, in order.
func (v Variant) Settings() rules.Settings {
	rounds := "up"
	if v.Rules.UpDown {
		rounds = "updown"
	}
	return rules.Settings{
		{Name: "players", Value: strconv.Itoa(int(v.Rules.Players))},
		{Name: "deck", Value: strconv.Itoa(int(v.Rules.Deck))},
		{Name: "rounds", Value: rounds},
	}
}

// MostPlies returns the bids and the cards of all rounds.
func (v Variant) MostPlies() int { return int(v.Rules.plies(v.Rules.Rounds() + 1)) }

// Players returns the number of seats.
func (v Variant) Players() int { return int(v.Rules.Players) }

// Side returns the seat: every seat plays alone.
func (Variant) Side(seat int) int { return seat }

// Chance returns true: the cards are shuffled.
func (Variant) Chance() bool { return true }

// Deal returns the first position.
func (v Variant) Deal(src *rules.Stream) rules.State {
	s := new(State)
	s.Deal(v.Rules, src)
	return s
}
