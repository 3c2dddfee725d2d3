package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
)

// briscaJudge values a card by the points that it is expected to win in the current trick minus the value of
// keeping it in the hand. The unit is points.
type briscaJudge struct {
	trickView
	teams            bool
	stock            int
	pot              int // points in the trick
	best             baraja.Card
	isPartnerWinning bool // a partner's card is the best of the trick so far

	mustWin bool // the rules force seats to win a trick if they can
	w       weights
}

func (j *briscaJudge) read(state rules.State, seat int) {
	s := state.(*brisca.State)
	j.readTable(&s.Table, seat, s.Rules().Teams)
}

// readTable sets the fields of j to what the player at the given seat knows of t, the table of a game of Brisca or
// Tute. teams is set if the seats play in two teams.
func (j *briscaJudge) readTable(t *baraja.Table, seat int, teams bool) {
	j.trickView = trickView{seat, int(t.Players), t.Hands[seat], t.Unseen(seat), t.Trumps(), t.Trick()}
	j.teams, j.stock, j.pot, j.best = teams, t.StockSize(), int(t.Pot), t.Best
	j.isPartnerWinning = len(j.trick) > 0 && teams && int(t.Winner)%2 == seat%2
}

func (j *briscaJudge) beats(best baraja.Card) baraja.Set { return baraja.BeatingCards(j.trumps, best) }

// swapWorth is the value of exchanging the trump card. It exceeds the value of any card, because the exchange
// costs nothing.
const swapWorth = 1000

func (j *briscaJudge) worth(m rules.Move) float64 {
	if m >= baraja.SwapMove {
		return swapWorth
	}
	c := baraja.Card(m)
	pot := float64(j.pot+baraja.Value(c)) + j.w.toss*float64(j.seatsAfter())
	return pot*j.netShare(j.chance(c)) - j.handValue(c)
}

// chance returns the estimated probability that the seat's side wins the trick if the seat plays c.
func (j *briscaJudge) chance(c baraja.Card) float64 {
	best, ours := c, true
	if len(j.trick) > 0 && !j.beats(j.best).Has(c) {
		best, ours = j.best, j.isPartnerWinning
	}
	rivals, partners := j.seatsAfter(), 0
	if j.teams {
		rivals = (rivals + 1) / 2
		partners = j.seatsAfter() - rivals
	}
	p := 0.0
	if ours {
		p = j.unbeatenChance(best, rivals)
	}
	// If a partner who plays later wins the trick back, the side may lose it once more.
	return p + (1-p)*(1-j.unbeatenChance(best, partners))/2
}

// unbeatenChance returns the estimated probability that none of the next n seats plays a card that beats best.
func (j *briscaJudge) unbeatenChance(best baraja.Card, n int) float64 {
	if j.mustWin {
		return j.forcedUnbeatenChance(best, j.beats(best), n)
	}
	// A seat has three cards and beats this one if it can.
	return randomUnbeatenChance(j.beats(best), j.unseen, 3*n)
}

// netShare returns the expected gain of this side in a trick, compared with the other sides, as a fraction of the
// trick's points. p is the probability that this side wins the trick. If it loses the trick, its gain is -1 divided
// by the number of other sides.
func (j *briscaJudge) netShare(p float64) float64 {
	others := float64(j.players - 1)
	if j.teams {
		others = 1
	}
	return p - (1-p)/others
}

// weights determine the estimated value of keeping a card in the hand. They were found by experiments.
type weights struct {
	toss          float64 // points that each later card is expected to add to a trick
	height        float64 // value of each step of strength of a card that is not a trump
	value         float64 // fraction of the points of a card that is not a trump
	trump         float64 // value of any trump, in points
	trumpStrength float64 // value of each step of strength of a trump
	trumpPoints   float64 // fraction of the points of a trump
}

var briscaWeights = weights{toss: 0, height: 0.05, value: 0.15, trump: 4, trumpStrength: 0.7, trumpPoints: 1}

// handValue returns the value, in points, of keeping c for later tricks.
func (j *briscaJudge) handValue(c baraja.Card) float64 {
	value, strength := float64(baraja.Value(c)), float64(baraja.Strength(c))
	worth := j.w.height*strength + j.w.value*value
	if c.Suit() == j.trumps {
		worth = j.w.trump + j.w.trumpStrength*strength + j.w.trumpPoints*value
	}
	if j.stock == 0 {
		worth /= 2
	}
	return worth
}
