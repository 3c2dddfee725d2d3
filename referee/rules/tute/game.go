// Package tute is Tute, a trick game for 2 to 4 seats with 40 cards of the
// Spanish pack. Pack, strength and value of the cards, the deal, the draw, the
// end, teams and the options exchange, last10, blackhand and hunt3 are those of
// package brisca, but each seat is dealt eight cards.
//
// What may be played is the first of these lines that fits; it holds from the
// first trick on and no matter who is winning the trick.
//  1. Leading: anything.
//  2. The trick holds no trump, or trumps were led, and the hand has cards of
//     the suit led that beat the best of them: those.
//  3. The hand has the suit led: any card of it.
//  4. The trick holds no trump and the hand has trumps: any trump.
//  5. Trumps were played on another suit and the hand has higher ones: those.
//  6. Otherwise anything.
//
// followonly=yes leaves lines 1, 3 and 6: follow suit or play anything.
//
// Songs: 12 and 11 of a suit in one hand are a song, worth 40 in trumps and 20 in
// another suit. When a trick begins, after the draw, every seat that holds a
// pair not done yet declares one of them, in order from the leader: the 40 when
// it has it, else its only 20; with several 20s it chooses, which is a turn of
// its own. Declaring is not optional. A seat that wins the trick and still
// holds both cards that it declared scores them, and the suit is done for good.
// What is not scored is declared anew when the next trick begins.
//
// Tute: all four 12s or all four 11s in one hand win at once. That is looked at
// when a trick begins, after the draw and before the songs, the first trick
// included, and after each exchange.
package tute

import (
	"embed"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

const (
	name = "tute"
	// handCards is the number of cards that each seat is dealt.
	handCards = 8
)

// Game is Tute.
var Game = &rules.Game{
	Name:  name,
	Texts: rulesFiles,
	Options: append(baraja.TableOptions(), rules.Option{
		Name: "followonly", Values: []string{"no", "yes"},
		Help: "follow suit or play anything: no duty to beat or to trump",
	}),
	Display: rules.Display{Title: "Tute", Cards: baraja.TrickRanking.Display()},
	Variant: func(g *rules.Game, settings rules.Settings) (*rules.Variant, error) {
		r, err := baraja.ReadTableRules(name, settings)
		return newVariant(g, settings, Rules{r, settings.Is("followonly")}), err
	},
}

//go:embed rules.*.md
var rulesFiles embed.FS

// Rules is the resolved options. It is comparable.
type Rules struct {
	baraja.TableRules
	FollowOnly bool
}

// MaxPlies returns the cards, the exchanges and the songs that are chosen.
func (r Rules) MaxPlies() int { return r.TableRules.MaxPlies() + suits }

func newVariant(g *rules.Game, settings rules.Settings, r Rules) *rules.Variant {
	return &rules.Variant{
		Game: g, Settings: settings, Rules: r,
		Players: int(r.Players), Sides: r.Sides(), Chance: true, Unique: true, MaxPlies: r.MaxPlies(),
		Deal:     rules.Dealer[State](r),
		FromView: func(o rules.Observation, rand *rules.Rand) (rules.State, error) { return fromView(r, o, rand) },
	}
}
