package podrida

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// Redeal implements rules.Redealer. It deals the cards that a seat does not know at random. No hand gets a card that
// its seat would have had to play earlier in this round by the rules. If the dealer was dealt the trump card, the
// dealer keeps it. All possible deals are about equally likely.
func (s *State) Redeal(seat int, r *rules.Rand) { s.RedealKnowing(seat, Failures, r) }

// Knowledge says which part of what a seat has seen must agree with a random deal of the hidden cards.
type Knowledge uint8

// The values of Knowledge, from the most knowledge to the least.
const (
	// Failures means that the deal agrees with the cards shown, and with what other seats have failed to do: follow
	// suit, beat a card or play a trump. No hand gets a card that its seat would have had to play instead.
	Failures Knowledge = iota
	// Played means that the deal agrees with the cards shown: no hand gets one of them, except for a trump card that
	// the dealer still holds.
	Played
	// OwnHand means that the deal agrees only with the seat's own hand. Cards that were played may be dealt again. A
	// game can continue from the resulting position, but cannot reach it.
	OwnHand
)

// RedealKnowing deals the cards that a seat does not know at random, like Redeal. k says with what knowledge of the
// seat the deal must agree.
func (s *State) RedealKnowing(seat int, k Knowledge, r *rules.Rand) {
	s.stream = rules.FastStream(r)
	if s.turn < 0 {
		return
	}
	h := s.takeHidden(seat, k)
	h.Deal(r) // always possible, because the actual deal is allowed
	h.AddToHands(s.hands[:])
}

// takeHidden removes from the hands of the other seats the cards that a seat does not know; k is what the seat knows.
// The result can deal these and all other unknown cards at random, to each hand as many as were removed.
func (s *State) takeHidden(seat int, k Knowledge) baraja.HiddenCards {
	var sizes [maxSeats]int
	seen := s.hands[seat]
	if k != OwnHand {
		seen |= s.ShownCards()
	}
	for p := range s.hands {
		sizes[p] = (s.hands[p] &^ seen).Len()
		s.hands[p] &= seen
	}
	var h baraja.HiddenCards
	if k == Failures {
		h.Forbidden = s.cannotHold()
	}
	h.Reset(s.rules.packSet()&^seen, sizes[:s.rules.Players])
	return h
}

// ShownCards returns the cards of this round that all seats have seen: those played and the trump card.
func (s *State) ShownCards() baraja.Set {
	return baraja.SetOf(s.playedCards[:s.playedCount]).With(s.trumpCard)
}

// cannotHold returns, for each seat, the cards that cannot be in its hand: if it had one of them, it would have had
// to play it earlier in this round.
func (s *State) cannotHold() (cannot [baraja.StockPlace + 1]baraja.Set) {
	for p := range s.plays {
		for _, duty := range p.table.duties().All() {
			if duty.Has(p.card) {
				break
			}
			cannot[p.seat] |= duty
		}
	}
	return cannot
}

// play is a card that was played, with the seat that played it and the state of the trick before.
type play struct {
	seat  int8
	card  baraja.Card
	table table
}

// plays yields the cards played in this round, in order.
func (s *State) plays(yield func(play) bool) {
	t := emptyTable(s.table.trumps)
	seat := s.next(s.dealer)
	winner := seat
	for i, c := range s.playedCards[:s.playedCount] {
		if !yield(play{seat, c, t}) {
			return
		}
		if t.put(c) {
			winner = seat
		}
		seat = s.next(seat)
		if (i+1)%int(s.rules.Players) == 0 {
			t = emptyTable(s.table.trumps)
			seat = winner
		}
	}
}

// fromView returns a random position that agrees with what one seat knows; see rules.Variant.FromView.
func fromView(r Rules, o rules.Observation, rand *rules.Rand) (rules.State, error) {
	s := &State{rules: r, lastRound: uint8(r.Rounds()), stream: rules.FastStream(rand)}
	reader := o.Reader(name, int(r.Players))
	s.readRound(&reader)
	s.readPlay(&reader, baraja.ReadSet(&reader, "hand", r.packSet()), o.Seat)
	if reader.Err() == nil {
		s.dealHidden(&reader, o.Seat, rand)
	}
	return reader.Finish(s)
}

// readRound reads from v, which has what one seat may know, the facts that do not change during a round: its number,
// the trump card, and the points before it. It stores errors in v.
func (s *State) readRound(v *rules.ViewReader) {
	players := int(s.rules.Players)
	s.round = uint8(v.Int("round", 1, int(s.lastRound)))
	s.ply = s.rules.plies(int(s.round))
	s.dealer = int8((int(s.round) + players - 2) % players)
	s.startRound(baraja.ReadCard(v, "trump", s.rules.packSet()))
	var points [maxSeats]int
	v.Ints("points", points[:players], -1000, 1000, 0)
	for seat, p := range points {
		s.points[seat] = int16(p)
	}
}

// readPlay reads the bids and the cards played in this round from v, which has what a seat may know. It makes these
// moves without checking most of the rules. hand is the hand of the seat. It stores errors in v.
func (s *State) readPlay(v *rules.ViewReader, hand baraja.Set, seat int) {
	var bids [maxSeats]int
	v.Ints("bids", bids[:s.rules.Players], 0, int(s.handSize), noBid)
	var memory, latest [baraja.Cards]baraja.Card
	played := baraja.ReadCards(v, "played", memory[:0], s.rules.packSet()&^hand)
	trick := baraja.ReadCards(v, "trick", latest[:0], s.rules.packSet()&^hand&^baraja.SetOf(played))
	if v.Err() != nil {
		return
	}
	for s.missingBids > 0 && bids[s.turn] != noBid {
		if bids[s.turn] == s.ForbiddenBid() {
			v.Fail("bids", "has a last bid that makes them add up to the cards")
			return
		}
		s.Apply(bidMove+rules.Move(bids[s.turn]), nil)
	}
	cards := append(played, trick...)
	if s.missingBids > 0 && len(cards) > 0 || len(cards) >= int(s.handSize)*int(s.rules.Players) {
		v.Fail("played", "has more cards than can be played by now")
		return
	}
	for p := range s.hands {
		s.hands[p] = everyCard
	}
	for _, c := range cards {
		s.Apply(rules.Move(c), nil)
	}
	s.hands = [maxSeats]baraja.Set{}
	s.hands[seat] = hand
}

// dealHidden deals the cards that a seat does not see at random. The deal agrees with the cards played. It stores
// an error in v if no such deal exists.
func (s *State) dealHidden(v *rules.ViewReader, seat int, r *rules.Rand) {
	h := baraja.HiddenCards{Forbidden: s.cannotHold()}
	hand, seen := s.hands[seat], s.hands[seat]|s.ShownCards()
	if h.Forbidden[seat]&hand != 0 {
		v.Fail("hand", "has a card that had to be played before")
	}
	players := int(s.rules.Players)
	used := players*int(s.handSize) == int(s.rules.Deck) // the dealer was dealt the trump card
	played := baraja.SetOf(s.playedCards[:s.playedCount]).Has(s.trumpCard)
	switch holds := used && !played; {
	case hand.Has(s.trumpCard) != (holds && seat == int(s.dealer)), played && !used:
		v.Fail("trump", "is not where the card that shows the trumps has to be by now")
	case holds:
		s.hands[s.dealer] = s.hands[s.dealer].With(s.trumpCard)
	}
	var sizes [maxSeats]int
	for p := range players {
		sizes[p] = int(s.handSize) - s.playedBy(p) - s.hands[p].Len()
	}
	if sizes[seat] != 0 {
		v.Fail("hand", "is not of as many cards as are due by now")
	}
	if !h.Reset(s.rules.packSet()&^seen, sizes[:players]) || !h.Deal(r) {
		v.Fail("played", "leaves no deal that is possible")
	}
	h.AddToHands(s.hands[:])
}

// playedBy returns the number of cards that a seat has played in this round.
func (s *State) playedBy(seat int) int {
	players := int(s.rules.Players)
	n := (int(s.playedCount) - int(s.trickSize)) / players
	if (seat+players-int(s.leader))%players < int(s.trickSize) {
		n++
	}
	return n
}
