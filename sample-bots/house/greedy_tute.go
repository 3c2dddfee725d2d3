package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/tute"
)

// tuteJudge extends briscaJudge by songs. A pair of 12 and 11 has a value in the hand until its song is
// scored, and a trick that scores a declared song is worth the points of the song.
type tuteJudge struct {
	briscaJudge
	state *tute.State
}

var tuteWeights = weights{toss: 0, height: 0.15, value: 0.4, trump: 2, trumpStrength: 0.5, trumpPoints: 1}

func (j *tuteJudge) read(state rules.State, seat int) {
	j.state = state.(*tute.State)
	j.readTable(&j.state.Table, seat, j.state.Rules().Teams)
}

// worth returns the value of a move. A choice between songs does not matter, because all of them count 20.
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

// keptPairShare is the expected part of a song's points that a pair brings if it is kept.
const keptPairShare = 0.6

// songLoss returns the points of the song that is lost by playing a card.
func (j *tuteJudge) songLoss(c baraja.Card) float64 {
	if !baraja.Pairs(j.hand, j.state.SungSuits).Has(c) {
		return 0
	}
	return float64(j.state.SongPoints(c.Suit()))
}
