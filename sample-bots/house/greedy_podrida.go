package house

import (
	"bytes"
	"math"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// podridaJudge bids the tricks that its cards should win and then plays to stay
// on course: what this trick and the cards left should bring is held against what
// is missing to the bid. Its unit is tricks.
type podridaJudge struct {
	trickView
	pack baraja.Set
	deck string
	beat [baraja.Cards]baraja.Set // by card, those that beat it
	suit baraja.Suit              // the trumps that beat and pack are for

	need  float64               // tricks still missing to the bid, below 0 when it is overshot
	ruffs [4]float64            // by suit, the chance that another hand can ruff it
	force [baraja.Cards]float64 // by card, what it should win in the tricks to come
	mine  float64               // the force of the hand
	scale float64               // tricks for a unit of force
}

func (j *podridaJudge) read(t *protocol.Turn) bool {
	deck, _ := t.Game.Settings.Lookup("deck")
	if j.pack == 0 || string(deck) != j.deck {
		j.deck, j.pack = string(deck), pack48
		if j.deck == "40" {
			j.pack = pack40
		}
		j.fillBeat()
	}
	if !j.trickView.read(t, j.pack) {
		return false
	}
	j.unseen = j.unseen.Without(j.trump)
	if j.trump.Suit() != j.suit {
		j.fillBeat()
	}
	j.weigh()
	bids, _ := t.View.Lookup("bids")
	tricks, _ := t.View.Lookup("tricks")
	won, _ := bySeat(tricks, j.seat)
	bid, _ := bySeat(bids, j.seat)
	j.need = float64(bid - won)
	return true
}

// height orders the cards of a suit: the 1 above all.
func height(c baraja.Card) int {
	if c.Rank() == 1 {
		return 13
	}
	return c.Rank()
}

func (j *podridaJudge) fillBeat() {
	trumps := j.trump.Suit() % 4
	j.suit = trumps
	for best := range j.beat {
		b := baraja.Card(best)
		set := baraja.Set(0)
		for s := j.pack.Of(b.Suit()); s != 0; s &= s - 1 {
			if c := s.First(); height(c) > height(b) {
				set = set.With(c)
			}
		}
		if b.Suit() != trumps {
			set |= j.pack.Of(trumps)
		}
		j.beat[best] = set
	}
}

func (j *podridaJudge) beats(best baraja.Card) baraja.Set { return j.beat[best] }

// weigh settles what each card is worth in the tricks to come. The force of all
// cards in play is scaled to the number of tricks that there are.
func (j *podridaJudge) weigh() {
	j.mine = 0
	j.ruffs = [4]float64{}
	for suit := range baraja.Suit(4) {
		if suit != j.suit {
			j.ruffs[suit] = j.lacks(j.unseen.Of(suit)) * (1 - j.lacks(j.unseen.Of(j.suit)))
		}
	}
	for s := j.hand; s != 0; s &= s - 1 {
		c := s.First()
		j.force[c] = j.winning(c)
		j.mine += j.force[c]
	}
	hidden := 0.0
	for s := j.unseen; s != 0; s &= s - 1 {
		hidden += j.winning(s.First())
	}
	tricks := float64(j.hand.Len())
	others := hidden / float64(max(1, j.unseen.Len())) * tricks * float64(j.players-1)
	j.scale = 0
	if all := j.mine + others; all > 0 {
		j.scale = tricks / all
	}
}

// winning is about the chance that a card wins one of the tricks to come.
func (j *podridaJudge) winning(c baraja.Card) float64 {
	others, cards := j.players-1, j.hand.Len()
	dealt := math.Min(1, float64(others*cards)/float64(max(1, j.unseen.Len()))) // the chance that a hidden card is in play
	higher := (j.beats(c) & j.unseen).Of(c.Suit()).Len()
	p := power(1-higherCounts*dealt, higher)
	if c.Suit() == j.suit {
		return p + (1-p)*ruff*math.Min(1, float64(cards)/4) // a low trump wins by ruffing
	}
	p *= power(1-j.ruffs[c.Suit()], others) // if led, it wins unless someone is void and ruffs
	if cards == 1 && j.leader != j.seat {
		p *= notLed
	}
	return p
}

// How the estimate leans, found by trying values against random opponents.
const (
	higherCounts = 0.8 // a higher card is gone before, or is held back
	ruff         = 0.35
	notLed       = 0.3  // the last card of a hand wins seldom when another leads
	doubt        = 0.15 // what an uncertain trick costs
)

func (j *podridaJudge) worth(move []byte) float64 {
	if n, ok := bytes.CutPrefix(move, []byte("bid:")); ok {
		bid, _ := bySeat(n, 0)
		return -math.Abs(float64(bid) - j.mine*j.scale)
	}
	c, ok := parseCard(move)
	if !ok {
		return 0
	}
	p := j.chance(c)
	left := (j.mine - j.force[c]) * j.scale
	return -math.Abs(j.need-p-left) - doubt*p*(1-p)
}

// chance is how likely a card is to win this trick.
func (j *podridaJudge) chance(c baraja.Card) float64 {
	if len(j.trick) > 0 && !j.beats(j.trick[j.winner(j.beats)]).Has(c) {
		return 0
	}
	return j.bound(c, j.beats(c), j.toCome())
}
