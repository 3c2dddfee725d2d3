package house

import (
	"math"
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/podrida"
)

// podridaWorld is a position of La Podrida for the tree search of package ismcts. The searched game ends with the
// round. In the simulated games of the search, the seats bid and play sensibly instead of at random.
type podridaWorld struct {
	podrida.State
	round *podridaRound
}

// podridaRound has data that all positions of one search share. The root is the position at which the search
// begins. The force of a card is its estimated probability to win a trick.
type podridaRound struct {
	players, cards int
	trumps         baraja.Suit
	basePoints     [rules.MaxSeats]int        // points before the round, by seat
	playedCards    [rules.MaxSeats]baraja.Set // cards that each seat has played before the root
	bidders        [rules.MaxSeats]int8       // the first nBidders are the other seats that have bid before the root
	nBidders       int
	force          [2][baraja.Ranks]float32  // force of a trump [0] or another card [1], by the number of higher cards that are not in the same hand
	plainFactor    [baraja.Ranks + 1]float32 // factor for a card that is not a trump, by the number of cards of its suit in the hand
	otherForce     float32                   // total force of the other hands
	deck           baraja.Set
}

// Parameters of the bot champion in La Podrida, found by experiments.
const (
	podridaC      = 0.4 // weight of exploration in the tree search
	podridaScale  = 40  // difference in points that corresponds to the range of search scores from 0 to 1
	podridaDeals  = 6   // number of random deals from which Redeal selects one
	podridaRandom = 8   // one of this many moves in a playout is random
)

// prepare sets the data for a search that begins at s, in which seat is to move.
func (p *podridaRound) prepare(s *podrida.State, seat int) {
	p.players, p.cards, p.trumps = int(s.Rules().Players), s.HandSize(), s.Trumps()
	s.PlayedBy(&p.playedCards)
	p.nBidders = 0
	for other := range p.players {
		p.basePoints[other] = s.PointsOf(other)
		if other != seat && s.BidOf(other) >= 0 {
			p.bidders[p.nBidders] = int8(other)
			p.nBidders++
		}
	}
	p.deck = s.Pack()
	p.setForces()
}

// setForces sets the tables of forces. The force of a card is its estimated probability to win a trick. The tables
// hold for the hand of any seat, unlike the forces of podridaJudge.
func (p *podridaRound) setForces() {
	others, cards := p.players-1, float64(p.cards)
	hidden := math.Max(1, float64(p.deck.Len())-cards)
	dealt := math.Min(1, float64(others)*cards/hidden)
	suit := float64(p.deck.Len()) / 4
	lacks := func(of float64) float64 { return math.Pow(math.Max(0, 1-of/hidden), cards) }
	for higher := range baraja.Ranks {
		wins := math.Pow(1-higherCardWeight*dealt, float64(higher))
		p.force[1][higher] = float32(wins)
		p.force[0][higher] = float32(wins + (1-wins)*ruffWeight*math.Min(1, cards/4))
	}
	for own := range baraja.Ranks + 1 {
		ruffed := lacks(suit-float64(own)) * (1 - lacks(suit))
		p.plainFactor[own] = float32(math.Pow(1-ruffed, float64(others)))
		if p.cards == 1 {
			p.plainFactor[own] *= notLedFactor
		}
	}
	p.otherForce = 0
	all := float32(0)
	for s := p.deck; s != 0; s &= s - 1 {
		all += p.cardForce(s.First(), 0, int(math.Round(cards/4)))
	}
	p.otherForce = all / float32(p.deck.Len()) * float32(p.cards*others)
}

// cardForce returns the estimated probability that c, a card of the given hand, wins a trick. own is the number of
// cards in the hand that have the suit of c.
func (p *podridaRound) cardForce(c baraja.Card, hand baraja.Set, own int) float32 {
	higher := (podrida.Ranking.Above[c&63] & p.deck &^ hand).Len()
	if c.Suit() == p.trumps {
		return p.force[0][higher%baraja.Ranks]
	}
	return p.force[1][higher%baraja.Ranks] * p.plainFactor[own%(baraja.Ranks+1)]
}

func (p *podridaRound) expectedTricks(hand baraja.Set) float32 {
	mine := float32(0)
	for suit := range baraja.Suit(4) {
		cards := hand.OfSuit(suit)
		own := cards.Len()
		for ; cards != 0; cards &= cards - 1 {
			mine += p.cardForce(cards.First(), hand, own)
		}
	}
	if mine+p.otherForce <= 0 {
		return 0
	}
	return mine * float32(p.cards) / (mine + p.otherForce)
}

// Redeal deals the cards that the given seat does not know at random. If other seats have bid, it makes
// podridaDeals deals and keeps the one in which the hands agree best with these bids.
func (w *podridaWorld) Redeal(seat int, r *rules.Rand) {
	w.State.Redeal(seat, r)
	p := w.round
	if p.nBidders == 0 {
		return
	}
	best, other := w.misfit(), w.State
	for range podridaDeals - 1 {
		other.Redeal(seat, r)
		next := podridaWorld{other, p}
		if e := next.misfit(); e < best {
			best, w.State = e, other
		}
	}
}

// misfit returns how badly the dealt hands agree with the bids. It adds up, over the other seats that have bid
// before the search, the squared difference between the bid and the number of tricks that the hand is expected to
// win.
func (w *podridaWorld) misfit() (sum float32) {
	p := w.round
	for _, seat := range p.bidders[:p.nBidders] {
		d := float32(w.BidOf(int(seat))) - p.expectedTricks(w.Hand(int(seat))|p.playedCards[seat])
		sum += d * d
	}
	return sum
}

// Playout plays the round to its end. Each seat bids the number of tricks that its hand is expected to win, and
// then tries to win as many as it has bid.
func (w *podridaWorld) Playout(r *rules.Rand) {
	for w.Turn() >= 0 && w.IsBidding() {
		w.Apply(podrida.BidMove(w.playoutBid()), nil)
	}
	for w.Turn() >= 0 {
		w.Apply(rules.Move(w.playoutCard(r)), nil)
	}
}

// playoutBid returns the legal bid that is nearest to the number of tricks that the hand of the seat to move is
// expected to win.
func (w *podridaWorld) playoutBid() int {
	want := w.round.expectedTricks(w.Hand(w.Turn()))
	n := int(want + 0.5)
	if n != w.ForbiddenBid() {
		return n
	}
	if n == w.round.cards || n > 0 && want < float32(n) {
		return n - 1
	}
	return n + 1
}

func (w *podridaWorld) playoutCard(r *rules.Rand) baraja.Card {
	may := w.Playable()
	n := bits.OnesCount64(uint64(may))
	if n == 1 {
		return may.First()
	}
	missing := w.MissingTricks(w.Turn())
	if missing < 0 || r.Below(podridaRandom) == 0 {
		return may.Nth(r.Below(n))
	}
	inTrick := len(w.Trick())
	wins := may&w.WinningCards() != 0
	last := inTrick == w.round.players-1
	if missing > 0 {
		return extremeCard(may, w.round.trumps, wins && !last)
	}
	return extremeCard(may, w.round.trumps, !wins || last)
}

// Scores sets the score of each seat, from 0 to 1. A seat that has won as many points in the round as the others on
// average gets one half. Each point above or below that average changes the score by 1/podridaScale.
func (w *podridaWorld) Scores(scores *[rules.MaxSeats]float32) {
	p := w.round
	sum := 0
	var won [rules.MaxSeats]int
	for seat := range p.players {
		won[seat] = w.PointsOf(seat) - p.basePoints[seat]
		sum += won[seat]
	}
	for seat := range p.players {
		mean := float32(sum-won[seat]) / float32(p.players-1)
		scores[seat] = min(1, max(0, 0.5+(float32(won[seat])-mean)/podridaScale))
	}
}
