package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/tute"
)

// tuteJudge values moves of Tute like briscaJudge, but also counts the bonus for a pair of 12 and 11 of a suit. It
// subtracts points for breaking a pair that was not scored, and adds points for winning a trick that scores a
// declared pair.
type tuteJudge struct {
	briscaJudge
	state *tute.State
}

var tuteWeights = weights{toss: 0, height: 0.15, value: 0.4, trump: 2, trumpStrength: 0.5, trumpPoints: 1}

func (j *tuteJudge) read(state rules.State, seat int) {
	j.state = state.(*tute.State)
	j.readTable(&j.state.Table, seat, j.state.Rules().Teams)
}

// worth returns the value of m in points. All moves that choose which pair to score have the same value.
func (j *tuteJudge) worth(m rules.Move) float64 {
	worth := j.briscaJudge.worth(m)
	if m >= baraja.SwapMove {
		return worth
	}
	c := baraja.Card(m)
	broken := j.songLoss(c)
	worth -= keptPairShare * broken
	if suit, ok := j.state.DeclaredBy(j.seat); ok && (broken == 0 || c.Suit() != suit) {
		worth += float64(j.state.SongPoints(suit)) * j.chance(c)
	}
	return worth
}

// keptPairShare is the expected fraction of the bonus points of a pair (12 and 11 of a suit) if the pair is
// kept in the hand.
const keptPairShare = 0.6

// songLoss returns the bonus points that the seat can no longer score after it has played c. They are 0 unless c
// belongs to a pair (12 and 11 of a suit) that has not been scored.
func (j *tuteJudge) songLoss(c baraja.Card) float64 {
	if !baraja.Pairs(j.hand, j.state.SungSuits).Has(c) {
		return 0
	}
	return float64(j.state.SongPoints(c.Suit()))
}
