package house

import (
	"bytes"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// briscaJudge weighs, in points of the game, what a card wins or loses in this
// trick against what it would be worth in the hand.
type briscaJudge struct {
	trickView
	teams bool
	stock int
	pot   int // points in the trick
	best  baraja.Card
	ours  bool // a partner's card wins so far

	forced bool // the rules bind seats to win a trick if they can
	w      weights
}

func (j *briscaJudge) read(t *protocol.Turn) bool {
	if !j.trickView.read(t, pack40) {
		return false
	}
	j.teams = t.Game.Settings.Get("teams") == "yes"
	j.stock = t.View.Int("stock")
	j.unseen = j.unseen.Without(j.trump) // its place is known: the table, or a hand that will show it
	j.pot, j.ours, j.best = 0, false, baraja.NoCard
	for _, c := range j.trick {
		j.pot += baraja.Value(c)
	}
	if len(j.trick) > 0 {
		at := j.winner(j.beats)
		j.best = j.trick[at]
		j.ours = j.teams && (j.leader+at)%2 == j.seat%2
	}
	return true
}

func (j *briscaJudge) beats(best baraja.Card) baraja.Set {
	return baraja.Beats(j.trump.Suit(), best)
}

// swapWorth is more than any card is worth: the better card costs nothing.
const swapWorth = 1000

func (j *briscaJudge) worth(move []byte) float64 {
	if bytes.HasPrefix(move, []byte("swap:")) {
		return swapWorth
	}
	c, ok := parseCard(move)
	if !ok {
		return 0
	}
	pot := float64(j.pot+baraja.Value(c)) + j.w.toss*float64(j.toCome())
	return pot*j.share(j.chance(c)) - j.keep(c)
}

// chance is how likely the trick is to be this side's if c is played.
func (j *briscaJudge) chance(c baraja.Card) float64 {
	best, ours := c, true
	if len(j.trick) > 0 && !j.beats(j.best).Has(c) {
		best, ours = j.best, j.ours
	}
	rivals, partners := j.toCome(), 0
	if j.teams {
		rivals = (rivals + 1) / 2
		partners = j.toCome() - rivals
	}
	p := 0.0
	if ours {
		p = j.stands(best, rivals)
	}
	// What a partner still to play wins back may be lost once more.
	return p + (1-p)*(1-j.stands(best, partners))/2
}

// stands is the chance that the next n seats do not beat a card.
func (j *briscaJudge) stands(best baraja.Card, n int) float64 {
	if j.forced {
		return j.bound(best, j.beats(best), n)
	}
	// A seat that has one of three cards to play beats this one if it can.
	return holds(j.beats(best), j.unseen, 3*n)
}

// share turns a chance to have the trick into the part of its points that is
// gained on the others: what they win is divided among them.
func (j *briscaJudge) share(p float64) float64 {
	others := float64(j.players - 1)
	if j.teams {
		others = 1
	}
	return p - (1-p)/others
}

// weights are what a card in the hand is worth, found by trying values.
type weights struct {
	toss     float64 // points that each card still to come brings to a trick
	height   float64 // for each step of strength
	value    float64 // of a card's points, the part that it will bring later
	trump    float64 // what a trump will win besides itself
	strength float64 // for each step of a trump's strength
	own      float64 // of a trump's points, the part that it will bring later
}

var briscaWeights = weights{toss: 0, height: 0.05, value: 0.15, trump: 4, strength: 0.7, own: 1}

// keep is what a card would be worth later: trumps win tricks, and so do the
// cards that are high in their suits, while there are tricks to come.
func (j *briscaJudge) keep(c baraja.Card) float64 {
	value, strength := float64(baraja.Value(c)), float64(baraja.Strength(c))
	worth := j.w.height*strength + j.w.value*value
	if c.Suit() == j.trump.Suit() {
		worth = j.w.trump + j.w.strength*strength + j.w.own*value
	}
	if j.stock == 0 {
		worth /= 2
	}
	return worth
}
