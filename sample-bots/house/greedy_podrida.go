package house

import (
	"math"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/podrida"
)

// podridaJudge values moves of La Podrida. Its best bid is the number of tricks that it expects to win. Its best
// card is the one after which the expected number of further tricks, including this one, is closest to the number
// that the bid still needs.
type podridaJudge struct {
	trickView
	state *podrida.State

	ruffChance     [4]float64            // by suit: probability that another hand has no card of the suit, but trumps
	force          [baraja.Cards]float64 // chance of each card of the hand to win a later trick
	handForce      float64               // sum of force over the hand
	tricksPerForce float64               // factor that converts force to expected tricks
}

func (j *podridaJudge) read(state rules.State, seat int) {
	s := state.(*podrida.State)
	j.state = s
	j.trickView = trickView{seat, int(s.Rules().Players), s.Hand(seat), s.Unseen(seat), s.Trumps(), s.Trick()}
	j.setForces()
}

// setForces sets the force of each card in the hand: its estimated probability to win a trick. It also sets the
// factor with which the forces of all cards in play add up to the number of remaining tricks.
func (j *podridaJudge) setForces() {
	j.handForce = 0
	j.ruffChance = [4]float64{}
	for suit := range baraja.Suit(4) {
		if suit != j.trumps {
			j.ruffChance[suit] = j.lackChance(j.unseen.OfSuit(suit)) * (1 - j.lackChance(j.unseen.OfSuit(j.trumps)))
		}
	}
	for s := j.hand; s != 0; s &= s - 1 {
		c := s.First()
		j.force[c] = j.winChance(c)
		j.handForce += j.force[c]
	}
	hidden := 0.0
	for s := j.unseen; s != 0; s &= s - 1 {
		hidden += j.winChance(s.First())
	}
	tricks := float64(j.hand.Len())
	others := hidden / float64(max(1, j.unseen.Len())) * tricks * float64(j.players-1)
	j.tricksPerForce = 0
	if all := j.handForce + others; all > 0 {
		j.tricksPerForce = tricks / all
	}
}

// winChance returns the estimated probability that a card wins one of the remaining tricks.
func (j *podridaJudge) winChance(c baraja.Card) float64 {
	others, cards := j.players-1, j.hand.Len()
	dealt := math.Min(1, float64(others*cards)/float64(max(1, j.unseen.Len()))) // probability that a hidden card is in play
	higher := (j.state.BeatingCards(c) & j.unseen).OfSuit(c.Suit()).Len()
	p := power(1-higherCardWeight*dealt, higher)
	if c.Suit() == j.trumps {
		return p + (1-p)*ruffWeight*math.Min(1, float64(cards)/4) // a low trump can win by ruffing
	}
	p *= power(1-j.ruffChance[c.Suit()], others) // if the suit is led, the card wins unless another seat is void and ruffs
	if cards == 1 && j.state.Leader() != j.seat {
		p *= notLedFactor
	}
	return p
}

// Parameters of the estimate, found by experiments against random opponents.
const (
	higherCardWeight = 0.8 // weight of a hidden higher card, which may be held back
	ruffWeight       = 0.35
	notLedFactor     = 0.3  // the last card of a hand seldom wins if another seat leads
	uncertaintyCost  = 0.15 // weight of the variance p(1-p) of winning a trick
)

func (j *podridaJudge) worth(m rules.Move) float64 {
	if bid, ok := podrida.Bid(m); ok {
		return -math.Abs(float64(bid) - j.handForce*j.tricksPerForce)
	}
	c := baraja.Card(m)
	p := j.chance(c)
	left := (j.handForce - j.force[c]) * j.tricksPerForce
	return -math.Abs(float64(j.state.MissingTricks(j.seat))-p-left) - uncertaintyCost*p*(1-p)
}

// chance returns the estimated probability that c, played now, wins this trick.
func (j *podridaJudge) chance(c baraja.Card) float64 {
	if !j.state.WinningCards().Has(c) {
		return 0
	}
	return j.forcedUnbeatenChance(c, j.state.BeatingCards(c), j.seatsAfter())
}
