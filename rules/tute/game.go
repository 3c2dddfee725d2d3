// Package tute implements the rules of Tute, a trick game for 2 to 4 seats with 40 cards of the Spanish pack. The
// section "Tute" of SPEC.md has its rules, and those that it shares with Brisca.
//
// A seat with the 12 and the 11 of a suit at the start of a trick declares ("sings") that suit. If the seat wins
// the trick, this declaration, the song, scores bonus points.
package tute

import (
	"embed"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

const (
	name      = "tute"
	handCards = 8 // dealt to each seat
)

// Game describes Tute: its name, options, rules and display.
var Game = &rules.Game{
	Name:  name,
	Texts: rulesFiles,
	Options: append(baraja.TableOptions(), rules.Option{
		Name: "followonly", Values: []string{"no", "yes"},
		Help: "follow suit or play anything: no duty to beat or to trump",
	}),
	Display: rules.Display{Title: "Tute", Cards: baraja.TrickRanking.Display()},
	Variant: func(g *rules.Game, settings rules.Settings) (*rules.Variant, error) {
		r, err := baraja.ReadTableRules(settings)
		return newVariant(g, settings, Rules{r, settings.Is("followonly")}), err
	},
}

//go:embed rules.*.md
var rulesFiles embed.FS

// Rules holds the values of the options of Tute. Rules values can be compared with ==.
type Rules struct {
	baraja.TableRules
	FollowOnly bool
}

// MaxPlies returns the maximum number of moves in a game: the cards, the exchanges of the trump card, and the choices
// of a suit to declare. There is at most one choice in each trick: of the three suits that are not trumps, only one
// seat can hold the 12 and 11 of two. A suit that was not scored may be chosen again.
func (r Rules) MaxPlies() int { return r.TableRules.MaxPlies() + baraja.TableCards/int(r.Players) }

func newVariant(g *rules.Game, settings rules.Settings, r Rules) *rules.Variant {
	return &rules.Variant{
		Game: g, Settings: settings, Rules: r,
		Players: int(r.Players), Sides: r.Sides(), HasChance: true, UniqueDeals: true, MaxPlies: r.MaxPlies(),
		Deal:     rules.Dealer[State](r),
		FromView: func(o rules.Observation, rand *rules.Rand) (rules.State, error) { return fromView(r, o, rand) },
	}
}
