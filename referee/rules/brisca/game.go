// Package brisca is Brisca, a trick game for 2 to 4 seats with 40 cards of the
// Spanish pack.
//
// The cards of a suit rank 1, 3, 12, 11, 10, 7, 6, 5, 4, 2; the first five count
// 11, 10, 4, 3 and 2 points, the others nothing: 120 points in all.
//
// Three cards are dealt to each seat, one at a time from seat 0. The next card
// is turned up: it is the trump card, its suit is trumps, and it lies under the
// stock as its last card. Seat 0 leads to the first trick, the winner of a trick
// to the next. Any card may be played. The highest trump wins the trick, else
// the highest card of the suit led. After a trick, while the stock lasts, every
// seat draws a card, the winner first. With three seats the draws end before
// the trump card: it is never drawn and its value counts for nobody. The game
// ends when all cards are played. Points decide; with teams=yes (four seats, 0
// and 2 against 1 and 3) the sum of a team's points.
//
// exchange=yes: on its turn, before it plays a card, a seat may take the trump
// card from the table for the 7 of trumps, when the trump card is 1, 3, 12, 11
// or 10, or for the 2 of trumps, when it is 7, 6, 5 or 4. The card laid down is
// the trump card from then on, so that both exchanges may happen in one turn.
// It is possible while the trump card lies on the table, with three seats to
// the end.
//
// last10=yes: the last trick is worth 10 points more.
//
// blackhand=yes: a seat that holds 1, 3 and 12 of trumps wins at once. That is
// looked at when a trick begins, after the draw, the first included, and after
// each exchange.
//
// hunt3=yes (two seats): when the 3 of trumps is led and the 1 of trumps is put
// on it, the seat that put it wins at once. In the last trick a seat that leads
// the 1 of trumps and gets the 3 put on it wins at once as well. The trick is
// collected first; nobody draws any more.
//
// Winning at once makes the points 120 (130 with last10) for the seat and 0 for
// all others, its partner included.
package brisca

import (
	"embed"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

const (
	name = "brisca"
	// handCards is the number of cards that each seat is dealt.
	handCards = 3
)

// Game is Brisca.
var Game = &rules.Game{
	Name:    name,
	Texts:   rulesFiles,
	Options: baraja.TableOptions(),
	Display: rules.Display{Title: "Brisca", Cards: baraja.TrickRanking.Display()},
	Variant: func(g *rules.Game, settings rules.Settings) (*rules.Variant, error) {
		r, err := baraja.ReadTableRules(name, settings)
		return newVariant(g, settings, r), err
	},
}

//go:embed rules.*.md
var rulesFiles embed.FS

// Rules is the resolved options.
type Rules = baraja.TableRules

func newVariant(g *rules.Game, settings rules.Settings, r Rules) *rules.Variant {
	return &rules.Variant{
		Game: g, Settings: settings, Rules: r,
		Players: int(r.Players), Sides: r.Sides(), Chance: true, Unique: true, MaxPlies: r.MaxPlies(),
		Deal:     rules.Dealer[State](r),
		FromView: func(o rules.Observation, rand *rules.Rand) (rules.State, error) { return fromView(r, o, rand) },
	}
}
