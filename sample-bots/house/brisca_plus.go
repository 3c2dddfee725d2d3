package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// plusWeights are the weights of @brisca-plus.
type plusWeights struct {
	gain  float64 // of the points of the trick
	plain float64 // cost of each step of strength
	value float64 // cost of each point
	trump float64 // cost of a trump
	steep float64 // cost of each step of a trump's strength
	late  float64 // part of the costs that is left when the stock is used up
	draw  float64 // of what the trump card costs, in the trick that decides who draws it
}

// fitted are the weights that TestFitBriscaPlus has found.
var fitted = plusWeights{gain: 9.5, plain: 2.2, value: 5.5, trump: -18.6, steep: 18.6, late: 0.95, draw: 0.87}

func newBriscaPlus(p *params) Player {
	return newBriscaPlayer(&briscaAgent{appraiser: &plusAnswer{plus: plusWeights{
		gain:  p.decimal("gain", 0, 1000, fitted.gain, "weight of the points that a card is expected to win or lose"),
		plain: p.decimal("plain", -1000, 1000, fitted.plain, "cost of each step of strength of a card that is no trump"),
		value: p.decimal("value", -1000, 1000, fitted.value, "cost of each point of a card that is no trump"),
		trump: p.decimal("trump", -1000, 1000, fitted.trump, "cost of a trump"),
		steep: p.decimal("steep", -1000, 1000, fitted.steep, "cost of each step of strength of a trump"),
		late:  p.decimal("late", 0, 10, fitted.late, "part of the costs that is left when the stock is used up"),
		draw:  p.decimal("draw", -1000, 1000, fitted.draw, "weight of the trump card's cost in the trick that decides who draws it"),
	}}, ending: newBriscaEnding()})
}

// plusAnswer values a lead and an answer alike: by the points that the card is expected to gain,
// given the cards that were played, and by what it costs.
type plusAnswer struct {
	briscaJudge
	plus  plusWeights
	table *baraja.Table
}

func (a *plusAnswer) read(s rules.State, seat int) {
	a.briscaJudge.read(s, seat)
	a.table = cards.Table(s)
}

func (a *plusAnswer) worth(c baraja.Card) float64 {
	p := a.chance(c)
	gain := float64(a.pot+baraja.Value(c)) * a.share(p)
	worth := a.plus.gain*gain - a.cost(c)
	if a.players == 2 && a.stock == 2 {
		worth += a.plus.draw * (1 - p) * a.cost(a.table.Trump) // who loses the trick draws it
	}
	return worth
}

// cost is what a card is worth in the hand.
func (a *plusAnswer) cost(c baraja.Card) float64 {
	strength := float64(baraja.Strength(c))
	cost := a.plus.plain*strength + a.plus.value*float64(baraja.Value(c))
	if c.Suit() == a.trumps {
		cost = a.plus.trump + a.plus.steep*strength
	}
	if a.stock == 0 {
		cost *= a.plus.late
	}
	return cost
}
