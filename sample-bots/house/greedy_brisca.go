package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
)

// briscaJudge compares, in points of the game, what a card wins or loses in this trick with its
// value if it stays in the hand.
type briscaJudge struct {
	trickView
	teams            bool
	stock            int
	pot              int // points in the trick
	best             baraja.Card
	isPartnerWinning bool // a partner's card wins so far

	mustWin bool // the rules bind seats to win a trick if they can
	w       weights
}

func (j *briscaJudge) read(state rules.State, seat int) {
	s := state.(*brisca.State)
	j.readTable(&s.Table, seat, s.Rules().Teams)
}

// readTable reads the view of a table of Brisca or Tute.
func (j *briscaJudge) readTable(t *baraja.Table, seat int, teams bool) {
	j.trickView = trickView{seat, int(t.Players), t.Hands[seat], t.Unseen(seat), t.Trumps(), t.Trick()}
	j.teams, j.stock, j.pot, j.best = teams, t.StockSize(), int(t.Pot), t.Best
	j.isPartnerWinning = len(j.trick) > 0 && teams && int(t.Winner)%2 == seat%2
}

func (j *briscaJudge) beats(best baraja.Card) baraja.Set { return baraja.BeatingCards(j.trumps, best) }

// swapWorth is more than the value of any card: a swap costs nothing.
const swapWorth = 1000

func (j *briscaJudge) worth(m rules.Move) float64 {
	if m >= baraja.SwapMove {
		return swapWorth
	}
	c := baraja.Card(m)
	pot := float64(j.pot+baraja.Value(c)) + j.w.toss*float64(j.seatsAfter())
	return pot*j.netShare(j.chance(c)) - j.handValue(c)
}

// chance returns how likely the trick is to be this side's if c is played.
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
	// What a partner still to play wins back may be lost once more.
	return p + (1-p)*(1-j.unbeatenChance(best, partners))/2
}

// unbeatenChance returns the chance that the next n seats do not beat a card.
func (j *briscaJudge) unbeatenChance(best baraja.Card, n int) float64 {
	if j.mustWin {
		return j.forcedUnbeatenChance(best, j.beats(best), n)
	}
	// A seat that has one of three cards to play beats this one if it can.
	return randomUnbeatenChance(j.beats(best), j.unseen, 3*n)
}

// netShare returns the gain on the other sides from a chance of winning the trick, as a part of its
// points: the points that the others win are divided among them.
func (j *briscaJudge) netShare(p float64) float64 {
	others := float64(j.players - 1)
	if j.teams {
		others = 1
	}
	return p - (1-p)/others
}

// weights determine the value of a card in the hand. They were found by experiments.
type weights struct {
	toss          float64 // points that each card still to come brings to a trick
	height        float64 // for each step of strength
	value         float64 // of a card's points, the part that it will bring later
	trump         float64 // what a trump will win besides itself
	trumpStrength float64 // for each step of a trump's strength
	trumpPoints   float64 // of a trump's points, the part that it will bring later
}

var briscaWeights = weights{toss: 0, height: 0.05, value: 0.15, trump: 4, trumpStrength: 0.7, trumpPoints: 1}

// handValue returns the value of a card in later tricks: trumps and high cards win tricks, as long as
// tricks remain.
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
