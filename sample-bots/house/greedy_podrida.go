package house

import (
	"bytes"
	"math"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// podridaJudge bids the tricks that its cards should win and plays for exactly
// that many. Its unit is the chance that a card does what is wanted.
type podridaJudge struct {
	trickView
	pack baraja.Set
	deck string
	beat [baraja.Cards]baraja.Set // by card, those that beat it

	cards  int     // of this round
	need   int     // tricks still missing to the bid, below 0 when it is overshot
	expect float64 // tricks that the hand should win
}

func (j *podridaJudge) read(t *protocol.Turn) bool {
	deck, _ := t.Game.Settings.Lookup("deck")
	if j.pack == 0 || string(deck) != j.deck {
		j.deck, j.pack = string(deck), 0
		pack := baraja.Pack48
		if j.deck == "40" {
			pack = baraja.Pack40
		}
		for _, c := range pack {
			j.pack = j.pack.With(c)
		}
	}
	if !j.trickView.read(t, j.pack) {
		return false
	}
	j.unseen = j.unseen.Without(j.trump)
	j.fillBeat()
	j.cards = t.View.Int("cards")
	bids, _ := t.View.Lookup("bids")
	tricks, _ := t.View.Lookup("tricks")
	won, _ := bySeat(tricks, j.seat)
	if bid, ok := bySeat(bids, j.seat); ok {
		j.need = bid - won
	} else {
		j.expect = j.expected(bids)
	}
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
	trumps := j.trump.Suit()
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

// expected is the tricks that the hand should win, leaning a little to what the
// bids already made leave over.
func (j *podridaJudge) expected(bids []byte) float64 {
	sum := 0.0
	for s := j.hand; s != 0; s &= s - 1 {
		sum += j.winning(s.First())
	}
	made, known := 0, 0
	for seat := range j.players {
		if n, ok := bySeat(bids, seat); ok {
			made, known = made+n, known+1
		}
	}
	if known == 0 {
		return sum
	}
	usual := float64(j.cards*known) / float64(j.players)
	return sum - 0.15*(float64(made)-usual)
}

// winning is the chance that a card wins a trick some time in the round.
func (j *podridaJudge) winning(c baraja.Card) float64 {
	others := float64(j.players - 1)
	hidden := float64(max(1, j.unseen.Len()))
	dealt := math.Min(1, others*float64(j.cards)/hidden) // the chance that a hidden card is in play
	higher := float64((j.beats(c) & j.unseen).Of(c.Suit()).Len())
	p := math.Pow(1-dealt, higher)
	if c.Suit() == j.trump.Suit() {
		// A low trump wins tricks by ruffing, the sooner the shorter the other suits.
		return p + (1-p)*0.35
	}
	// The other seats follow suit or trump: each is void with some chance, and a
	// card that is not led wins only when its suit is.
	suit := float64(j.unseen.Of(c.Suit()).Len())
	trumps := float64(j.unseen.Of(j.trump.Suit()).Len())
	void := math.Pow(1-suit/hidden, float64(j.cards))
	armed := 1 - math.Pow(1-trumps/hidden, float64(j.cards))
	p *= math.Pow(1-void*armed, others)
	if j.cards == 1 && j.leader != j.seat {
		p *= 0.3
	}
	return p
}

func (j *podridaJudge) worth(move []byte) float64 {
	if n, ok := bytes.CutPrefix(move, []byte("bid:")); ok {
		bid, _ := bySeat(n, 0)
		return -math.Abs(float64(bid) - j.expect)
	}
	c, ok := parseCard(move)
	if !ok {
		return 0
	}
	p := j.chance(c)
	cost := j.force(c)
	if j.need > 0 {
		if j.toCome() == 0 && p == 1 {
			return 2 - cost // sure to win: with the least that does it
		}
		if p < 0.2 {
			return p - cost // it will not win: throw the weakest
		}
		return p
	}
	return -p + cost // to lose: the strongest card that loses
}

// chance is how likely a card is to win this trick.
func (j *podridaJudge) chance(c baraja.Card) float64 {
	if len(j.trick) > 0 && !j.beats(j.trick[j.winner(j.beats)]).Has(c) {
		return 0
	}
	better := j.beats(c)
	if c.Suit() != j.trump.Suit() {
		// Those who can follow suit must not trump: count a trump for less.
		better = better.Of(c.Suit()) | j.fewer(better.Of(j.trump.Suit()))
	}
	return holds(better, j.unseen, 1.5*float64(j.toCome()))
}

// fewer is the lower half of a set.
func (j *podridaJudge) fewer(s baraja.Set) baraja.Set {
	for n := s.Len() / 2; n > 0; n-- {
		s &= s - 1
	}
	return s
}

// force is how strong a card is for the rest of the round, 0 to 0.1.
func (j *podridaJudge) force(c baraja.Card) float64 {
	f := float64(height(c)) / 13
	if c.Suit() == j.trump.Suit() {
		f++
	}
	return f / 20
}
