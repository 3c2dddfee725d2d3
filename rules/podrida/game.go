// Package podrida implements the rules of La Podrida, a trick game for 3 to 12 seats with the Spanish pack, in
// which each seat bids exactly how many tricks it will win. The section "La Podrida" of SPEC.md has the rules.
package podrida

import (
	"embed"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

const (
	name     = "podrida"
	minSeats = 3
	maxSeats = rules.MaxSeats
	// maxCards is the size of the largest possible hand, with the large pack and three seats.
	maxCards = baraja.Cards / minSeats
	// shortCards is the size of the largest hand in a short game.
	shortCards = 5
	// MostMoves is the maximum number of legal moves in a position. It is the number of possible bids on
	// the largest hand.
	MostMoves = maxCards + 1
)

// Game describes La Podrida: its name, options, rules and display.
var Game = &rules.Game{
	Name:  name,
	Texts: rulesFiles,
	Options: []rules.Option{
		{Name: "players", Min: minSeats, Max: maxSeats, Default: 4, Help: "how many seats play"},
		{Name: "deck", Values: []string{"48", "40"}, Help: "the pack: 48 cards, or 40 without the eights and nines"},
		{Name: "rounds", Values: []string{"up", "updown", "short"}, Help: "hands of 1, 2, ... cards up to the most that the pack gives, up and down to 1 again, or up to 5"},
	},
	Display: rules.Display{Title: "La Podrida", Cards: Ranking.Display()},
	Variant: func(g *rules.Game, settings rules.Settings) (*rules.Variant, error) {
		return newVariant(g, settings, Rules{
			Players: uint8(settings.Int("players")),
			Deck:    uint8(settings.Int("deck")),
			UpDown:  settings.Get("rounds") == "updown",
			Short:   settings.Get("rounds") == "short",
		}), nil
	},
}

//go:embed rules.*.md
var rulesFiles embed.FS

// Rules holds the values of the options of La Podrida. Rules values can be compared with ==.
type Rules struct {
	Players uint8 // 3 to 12
	Deck    uint8 // 48 or 40
	UpDown  bool  // the hands grow to the maximum and shrink to one card again
	Short   bool  // the hands grow only to shortCards
}

// MaxHand returns the size of the largest hand.
func (r Rules) MaxHand() int {
	largest := int(r.Deck / r.Players)
	if r.Short {
		return min(largest, shortCards)
	}
	return largest
}

// Rounds returns the number of rounds in a game.
func (r Rules) Rounds() int {
	if r.UpDown {
		return 2*r.MaxHand() - 1
	}
	return r.MaxHand()
}

// HandSize returns the size of the hands in a round. Rounds are counted from 1.
func (r Rules) HandSize(round int) int {
	if largest := r.MaxHand(); round > largest {
		return 2*largest - round
	}
	return round
}

func (r Rules) plies(round int) (n uint16) {
	for earlier := 1; earlier < round; earlier++ {
		n += uint16(r.Players) * uint16(1+r.HandSize(earlier))
	}
	return n
}

// pack returns the unshuffled pack. It must not be modified.
func (r Rules) pack() []baraja.Card {
	if r.Deck == baraja.Cards {
		return baraja.Pack48
	}
	return baraja.Pack40
}

func (r Rules) packSet() baraja.Set {
	if r.Deck == baraja.Cards {
		return set48
	}
	return set40
}

var set48, set40 = baraja.SetOf(baraja.Pack48), baraja.SetOf(baraja.Pack40)

// MaxPlies returns the number of moves in a game: the bids and the cards of all rounds.
func (r Rules) MaxPlies() int { return int(r.plies(r.Rounds() + 1)) }

func newVariant(g *rules.Game, settings rules.Settings, r Rules) *rules.Variant {
	return &rules.Variant{
		Game: g, Settings: settings, Rules: r,
		Players: int(r.Players), Sides: int(r.Players), HasChance: true, UniqueDeals: true, MaxPlies: r.MaxPlies(),
		Deal:     rules.Dealer[State](r),
		FromView: func(o rules.Observation, rand *rules.Rand) (rules.State, error) { return fromView(r, o, rand) },
	}
}
