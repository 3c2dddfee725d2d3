package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// plusWeights has the weights by which the bot brisca-plus values cards. Each is an option of the bot.
type plusWeights struct {
	gain  float64 // value of each point of the trick
	plain float64 // cost of each step of strength of a card that is not a trump
	value float64 // cost of each point of a card that is not a trump
	trump float64 // cost of a trump
	steep float64 // cost of each step of a trump's strength
	late  float64 // factor by which all costs are multiplied when the stock is used up
	draw  float64 // weight of the turned-up trump card, in the trick whose loser draws it
	need  float64 // how much draw grows with the need of trumps
}

// fittedWeights has the default weights of brisca-plus, which TestFitBriscaPlus has found.
var fittedWeights = plusWeights{gain: 9.5, plain: 2.2, value: 5.5, trump: -18.6, steep: 18.6, late: 0.95, draw: 0.87}

func newBriscaPlus(p *params) Player {
	return newBriscaPlayer(&briscaAgent{appraiser: &plusAppraiser{weights: plusWeights{
		gain:  p.readFloat("gain", 0, 1000, fittedWeights.gain, "weight of the points that a card is expected to win or lose"),
		plain: p.readFloat("plain", -1000, 1000, fittedWeights.plain, "cost of each step of strength of a card that is no trump"),
		value: p.readFloat("value", -1000, 1000, fittedWeights.value, "cost of each point of a card that is no trump"),
		trump: p.readFloat("trump", -1000, 1000, fittedWeights.trump, "cost of a trump"),
		steep: p.readFloat("steep", -1000, 1000, fittedWeights.steep, "cost of each step of strength of a trump"),
		late:  p.readFloat("late", 0, 10, fittedWeights.late, "part of the costs that is left when the stock is used up"),
		draw:  p.readFloat("draw", -1000, 1000, fittedWeights.draw, "weight of the trump card's cost in the trick that decides who draws it"),
		need:  p.readFloat("need", -1000, 1000, fittedWeights.need, "how much that weight grows if the hand has no other trump: by this factor, by half of it with one"),
	}}, ending: newBriscaEnding()})
}

// plusAppraiser values a card by the points that it is expected to gain in the trick, minus the cost of giving the
// card away. It takes into account which cards were played. It treats the first card of a trick like any other.
type plusAppraiser struct {
	briscaJudge
	weights plusWeights
	table   *baraja.Table
}

func (a *plusAppraiser) read(s rules.State, seat int) {
	a.briscaJudge.read(s, seat)
	a.table = cards.Table(s)
}

func (a *plusAppraiser) worth(c baraja.Card) float64 {
	p := a.chance(c)
	gain := float64(a.pot+baraja.Value(c)) * a.netShare(p)
	worth := a.weights.gain*gain - a.cost(c)
	if a.players == 2 && a.stock == 2 {
		worth += a.weights.draw * (1 + a.weights.need*a.needOfTrumps(c)) * (1 - p) * a.cost(a.table.Trump) // the loser draws the trump card
	}
	return worth
}

// needOfTrumps returns how much the hand lacks trumps after playing c: the share, from 0 to 1, of the remaining cards
// that are not trumps. It returns 1 if no card remains.
func (a *plusAppraiser) needOfTrumps(c baraja.Card) float64 {
	kept := a.hand.Without(c)
	return 1 - float64(kept.OfSuit(a.trumps).Len())/float64(max(1, kept.Len()))
}

// cost returns the cost of playing c: an estimate of what c would be worth if it stayed in the hand.
func (a *plusAppraiser) cost(c baraja.Card) float64 {
	strength := float64(baraja.Strength(c))
	cost := a.weights.plain*strength + a.weights.value*float64(baraja.Value(c))
	if c.Suit() == a.trumps {
		cost = a.weights.trump + a.weights.steep*strength
	}
	if a.stock == 0 {
		cost *= a.weights.late
	}
	return cost
}
