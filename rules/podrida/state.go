package podrida

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

const (
	// bidMove and n is the move bid:n; a lower move is a card.
	bidMove rules.Move = 64
	// strictRound is the first round that binds the last bidder.
	strictRound = 3

	everyCard = ^baraja.Set(0)
	noBid     = -1
)

// Ranking is how the cards of a suit rank.
var Ranking = baraja.NewRanking(1, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)

// table is what the duties of the next seat depend on in the current trick.
type table struct {
	trumps baraja.Set // the suit of trumps
	led    baraja.Set // the suit led; every card while nothing is led
	beat   baraja.Set // the cards that would now win; every card while nothing is led
}

// emptyTable returns the table before a lead.
func emptyTable(trumps baraja.Set) table { return table{trumps, everyCard, everyCard} }

// duties returns the duties of the next seat. Once a trick of another suit is trumped, beat
// holds only trumps, so that the first set is empty.
func (t *table) duties() baraja.Duties {
	return baraja.Duties{First: t.led & t.beat, Second: t.led, Third: t.trumps & t.beat, Fourth: t.trumps}
}

// playable returns what may be played from a hand.
func (t *table) playable(hand baraja.Set) baraja.Set { return t.duties().Playable(hand) }

// above returns the cards that would win from a card that is winning.
func (t *table) above(c baraja.Card) baraja.Set {
	if t.trumps.Has(c & 63) {
		return Ranking.Above[c&63]
	}
	return Ranking.Above[c&63] | t.trumps
}

// put puts a card on the table and reports whether it is now the winning one.
func (t *table) put(c baraja.Card) bool {
	if !t.beat.Has(c & 63) {
		return false
	}
	if t.led == everyCard {
		t.led = everyCard.OfSuit(c.Suit())
	}
	t.beat = t.above(c)
	return true
}

// State is a position of La Podrida: a value that can be copied and compared.
type State struct {
	table       table
	hands       [maxSeats]baraja.Set
	points      [maxSeats]int16
	bids        [maxSeats]int8 // of this round, noBid where not yet
	tricks      [maxSeats]int8 // won in this round
	playedCards [baraja.Cards]baraja.Card

	rules       Rules
	ply         uint16
	playedCount uint8 // cards played in this round, the first of played
	inTrick     uint8 // how many of them lie on the table
	toBid       uint8 // seats that have yet to bid
	bidSum      uint8
	round       uint8 // counted from 1
	last        uint8 // the round that ends the game
	cards       uint8 // dealt to each seat in this round
	dealer      int8
	leader      int8 // to the trick on the table
	winner      int8 // of the trick as it lies
	turn        int8
	trumpCard   baraja.Card // the card that shows the trumps

	stream rules.Stream // that the coming rounds are dealt from
}

// Deal sets the state to the first position. The stream is left after the first
// round's shuffle; the state goes on with a copy of it.
func (s *State) Deal(r Rules, src *rules.Stream) {
	*s = State{rules: r, last: uint8(r.Rounds()), dealer: int8(r.Players) - 2}
	s.stream = *src
	s.nextRound(nil)
	*src = s.stream
}

// next returns the seat after another.
func (s *State) next(seat int8) int8 {
	if seat++; seat == int8(s.rules.Players) {
		return 0
	}
	return seat
}

// nextRound shuffles and deals.
func (s *State) nextRound(log *rules.Log) {
	s.round++
	s.dealer = s.next(s.dealer)
	var memory [baraja.Cards]baraja.Card
	pack := memory[:s.rules.Deck]
	copy(pack, s.rules.pack())
	rules.Shuffle(&s.stream, pack)

	dealt := s.rules.Cards(int(s.round)) * int(s.rules.Players)
	seat := s.dealer
	for _, c := range pack[:dealt] {
		seat = s.next(seat)
		s.hands[seat] |= 1 << (c & 63)
	}
	s.startRound(pack[min(dealt, len(pack)-1)])
	if log != nil {
		s.logRound(log, pack[:dealt])
	}
}

// startRound begins the bids of a round, its trumps being shown by a card.
func (s *State) startRound(turned baraja.Card) {
	s.cards = uint8(s.rules.Cards(int(s.round)))
	s.trumpCard = turned
	s.table = emptyTable(everyCard.OfSuit(turned.Suit()))
	s.tricks = [maxSeats]int8{}
	for i := range s.bids {
		s.bids[i] = noBid
	}
	s.playedCount, s.inTrick, s.bidSum, s.toBid = 0, 0, 0, s.rules.Players
	s.leader = s.next(s.dealer)
	s.turn, s.winner = s.leader, s.leader
}

// Turn returns the seat to move, or rules.Over.
func (s *State) Turn() int { return int(s.turn) }

// Ply returns the number of bids made and cards played.
func (s *State) Ply() int { return int(s.ply) }

// ForbiddenBid returns the bid that the seat to move may not make, noBid, which is below 0, if all are allowed.
func (s *State) ForbiddenBid() int {
	if s.toBid == 1 && s.round >= strictRound && s.bidSum <= s.cards {
		return int(s.cards - s.bidSum)
	}
	return noBid
}

// Legal appends the legal moves: bids, then cards, never more than a hand and one.
func (s *State) Legal(dst []rules.Move) []rules.Move {
	if s.turn < 0 {
		return dst
	}
	if s.toBid == 0 {
		return s.table.playable(s.hands[s.turn]).Moves(dst)
	}
	refused := s.ForbiddenBid()
	for n := range int(s.cards) + 1 {
		if n != refused {
			dst = append(dst, bidMove+rules.Move(n))
		}
	}
	return dst
}

// Check returns why a move is not legal, nil if it is.
func (s *State) Check(m rules.Move) error {
	switch {
	case s.turn < 0:
		return phrase.Errorf("podrida: %q cannot be played: %w", s.MoveText(nil, m), rules.ErrOver)
	case s.toBid > 0:
		return s.checkBid(m)
	}
	hand := s.hands[s.turn]
	may := s.table.playable(hand)
	if m < baraja.Cards && may.Has(baraja.Card(m)) {
		return nil
	}
	text := s.MoveText(nil, m)
	switch {
	case m >= bidMove:
		return phrase.Errorf("podrida: %q comes too late, the bids are made: play one of %s", text, may.Text(nil))
	case m >= baraja.Cards || !hand.Has(baraja.Card(m)):
		return phrase.Errorf("podrida: %q is not in hand: play one of %s", text, may.Text(nil))
	}
	switch led := hand&s.table.led != 0; {
	case led && !s.table.led.Has(baraja.Card(m)):
		return phrase.Errorf("podrida: %q does not follow suit: play one of %s", text, may.Text(nil))
	case !led && !s.table.trumps.Has(baraja.Card(m)):
		return phrase.Errorf("podrida: %q does not trump: play one of %s", text, may.Text(nil))
	}
	return phrase.Errorf("podrida: %q is below the trick: play one of %s", text, may.Text(nil))
}

func (s *State) checkBid(m rules.Move) error {
	text := func() []byte { return s.MoveText(nil, m) } // made only for errors
	switch {
	case m < bidMove:
		return phrase.Errorf("podrida: %q cannot be played before the bids are made: bid, from bid:0 to bid:%d", text(), s.cards)
	case m > bidMove+rules.Move(s.cards):
		return phrase.Errorf("podrida: %q is more than the hand: bid from bid:0 to bid:%d", text(), s.cards)
	case int(m-bidMove) == s.ForbiddenBid():
		return phrase.Errorf("podrida: %q makes the bids add up to the %d cards, which the last bidder may not: bid another number", text(), s.cards)
	}
	return nil
}

// Apply makes a legal move.
func (s *State) Apply(m rules.Move, log *rules.Log) {
	s.ply++
	if m >= bidMove {
		s.bid(int8(m-bidMove), log)
	} else {
		s.play(baraja.Card(m), log)
	}
}

func (s *State) bid(n int8, log *rules.Log) {
	if log != nil {
		log.Add(rules.AllSeats, "bid", int(s.turn), int(n))
	}
	s.bids[s.turn] = n
	s.bidSum += uint8(n)
	s.toBid--
	s.turn = s.next(s.turn)
}

func (s *State) play(c baraja.Card, log *rules.Log) {
	if log != nil {
		log.Add(rules.AllSeats, "play", int(s.turn), c)
	}
	s.hands[s.turn] &^= 1 << (c & 63)
	s.playedCards[s.playedCount] = c
	s.playedCount++
	if s.table.put(c) {
		s.winner = s.turn
	}
	if s.inTrick++; s.inTrick < s.rules.Players {
		s.turn = s.next(s.turn)
		return
	}
	s.endTrick(log)
}

func (s *State) endTrick(log *rules.Log) {
	if log != nil {
		log.Add(rules.AllSeats, "trick", int(s.winner))
	}
	s.tricks[s.winner]++
	s.leader, s.turn = s.winner, s.winner
	s.inTrick = 0
	s.table = emptyTable(s.table.trumps)
	if s.hands[s.winner] == 0 {
		s.endRound(log)
	}
}

func (s *State) endRound(log *rules.Log) {
	for seat := range s.rules.Players {
		if s.bids[seat] == s.tricks[seat] {
			s.points[seat] += 10 + int16(s.tricks[seat])
		} else {
			s.points[seat] -= 10
		}
	}
	if log != nil {
		log.Add(rules.AllSeats, "score", strings.Trim(fmt.Sprint(s.points[:s.rules.Players]), "[]"))
	}
	if s.round == s.last {
		s.turn = rules.Over
		return
	}
	s.nextRound(log)
}

// Clone returns an independent copy.
func (s *State) Clone() rules.State {
	c := *s
	return &c
}

// Points returns the points by seat.
func (s *State) Points() []float64 {
	points := make([]float64, s.rules.Players)
	for seat := range points {
		points[seat] = float64(s.points[seat])
	}
	return points
}
