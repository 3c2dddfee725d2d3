package house

import (
	"bytes"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// tuteJudge is Brisca's with the songs: a pair of 12 and 11 is worth keeping
// until it is scored, and the trick that scores it is worth its points.
type tuteJudge struct {
	briscaJudge
	declared []byte // this seat's suit for this trick, "-" for none
	sung     []byte // the suits that are done
}

var tuteWeights = weights{toss: 0, height: 0.15, value: 0.4, trump: 2, strength: 0.5, own: 1}

func (j *tuteJudge) read(t *protocol.Turn) bool {
	if !j.briscaJudge.read(t) {
		return false
	}
	declared, _ := t.View.Lookup("declared")
	j.declared = nil
	seat := 0
	for suit := range bytes.SplitSeq(declared, []byte{','}) {
		if seat == j.seat {
			j.declared = suit
		}
		seat++
	}
	j.sung, _ = t.View.Lookup("sung")
	return true
}

func (j *tuteJudge) worth(move []byte) float64 {
	if bytes.HasPrefix(move, []byte("sing:")) {
		return swapWorth // all songs to choose from are of 20
	}
	worth := j.briscaJudge.worth(move)
	c, ok := parseCard(move)
	if !ok {
		return worth
	}
	broken := j.pair(c)
	worth -= pairKept * broken
	if len(j.declared) == 1 && j.declared[0] != '-' {
		suit := baraja.Suit(bytes.IndexByte([]byte(baraja.Suits), j.declared[0]))
		if broken == 0 || c.Suit() != suit {
			worth += j.song(suit) * j.chance(c)
		}
	}
	return worth
}

// pairKept is the part of a song that its pair will bring if it is kept.
const pairKept = 0.6

// song is the points of a suit's song.
func (j *tuteJudge) song(s baraja.Suit) float64 {
	if s == j.trump.Suit() {
		return 40
	}
	return 20
}

// pair is the points of the song that playing a card gives up.
func (j *tuteJudge) pair(c baraja.Card) float64 {
	s := c.Suit()
	whole := j.hand.Has(baraja.Of(12, s)) && j.hand.Has(baraja.Of(11, s))
	if (c.Rank() != 12 && c.Rank() != 11) || !whole || bytes.ContainsAny(j.sung, s.String()) {
		return 0
	}
	return j.song(s)
}
