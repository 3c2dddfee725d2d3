package podrida

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

const (
	// bidMove plus n is the move that bids n tricks. Lower numbers are the moves that play a card.
	bidMove rules.Move = 64
	// strictRound is the number of the first round in which the seat that bids last may not make the sum of
	// the bids equal to the number of cards in a hand.
	strictRound = 3

	// BidPoints is what a seat wins by fulfilling its bid, in addition to its tricks, and what it loses otherwise.
	BidPoints = 10

	everyCard = ^baraja.Set(0)
	noBid     = -1
)

// Ranking is the order of the cards within a suit in La Podrida.
var Ranking = baraja.NewRanking(1, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)

// table is the state of a trick. It determines which cards the next seat may play. Its fields are sets of cards.
type table struct {
	trumps baraja.Set // all cards of the suit of trumps
	led    baraja.Set // all cards of the suit led; every card before a card is led
	beat   baraja.Set // cards that would become the best of the trick; every card before a card is led
}

// emptyTable returns the table at the start of a trick, when no card has been played and every card may be played.
// trumps has all cards of the trump suit.
func emptyTable(trumps baraja.Set) table { return table{trumps, everyCard, everyCard} }

// duties returns which cards the next seat must play, in order of priority: a winning card of the suit that was led,
// any card of that suit, a winning trump, any trump. If a trump was played to another suit, no card of that suit
// wins, and the first set is empty.
func (t *table) duties() baraja.Duties {
	return baraja.Duties{First: t.led & t.beat, Second: t.led, Third: t.trumps & t.beat, Fourth: t.trumps}
}

func (t *table) playable(hand baraja.Set) baraja.Set { return t.duties().Playable(hand) }

func (t *table) above(c baraja.Card) baraja.Set {
	if t.trumps.Has(c & 63) {
		return Ranking.Above[c&63]
	}
	return Ranking.Above[c&63] | t.trumps
}

// put adds c to the trick and reports whether it is now the best card of the trick.
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

// State is a position of La Podrida. A State can be copied by assignment, and States can be compared with ==.
type State struct {
	table       table
	hands       [maxSeats]baraja.Set
	points      [maxSeats]int16
	bids        [maxSeats]int8            // in this round; noBid if not made yet
	tricks      [maxSeats]int8            // won in this round
	playedCards [baraja.Cards]baraja.Card // in this round, in order

	rules       Rules
	ply         uint16
	playedCount uint8 // number of cards in playedCards
	trickSize   uint8 // number of cards in the current trick
	missingBids uint8 // number of seats that have not bid yet
	bidSum      uint8
	round       uint8 // counted from 1
	lastRound   uint8 // the last round of the game
	handSize    uint8 // number of cards dealt to each seat in this round
	dealer      int8
	leader      int8 // the seat that leads the current trick
	winner      int8 // the seat that is winning the current trick
	turn        int8
	trumpCard   baraja.Card // the card that determines the suit of trumps

	stream rules.Stream // the source of the following deals
}

// Deal sets s to the first position of a game. The cards of the first round are drawn from src. For later rounds, s
// keeps a copy of src.
func (s *State) Deal(r Rules, src *rules.Stream) {
	*s = State{rules: r, lastRound: uint8(r.Rounds()), dealer: int8(r.Players) - 2}
	s.stream = *src
	s.nextRound(nil)
	*src = s.stream
}

func (s *State) next(seat int8) int8 {
	if seat++; seat == int8(s.rules.Players) {
		return 0
	}
	return seat
}

// nextRound deals the next round and starts its bidding. log may be nil.
func (s *State) nextRound(log *rules.Log) {
	s.round++
	s.dealer = s.next(s.dealer)
	var memory [baraja.Cards]baraja.Card
	pack := memory[:s.rules.Deck]
	copy(pack, s.rules.pack())
	rules.Shuffle(&s.stream, pack)

	dealt := s.rules.HandSize(int(s.round)) * int(s.rules.Players)
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

// startRound starts the bidding of round s.round. turned is the card that was turned up; its suit is trumps.
func (s *State) startRound(turned baraja.Card) {
	s.handSize = uint8(s.rules.HandSize(int(s.round)))
	s.trumpCard = turned
	s.table = emptyTable(everyCard.OfSuit(turned.Suit()))
	s.tricks = [maxSeats]int8{}
	for i := range s.bids {
		s.bids[i] = noBid
	}
	s.playedCount, s.trickSize, s.bidSum, s.missingBids = 0, 0, 0, s.rules.Players
	s.leader = s.next(s.dealer)
	s.turn, s.winner = s.leader, s.leader
}

func (s *State) Turn() int { return int(s.turn) }

// Ply implements rules.State. It counts bids and cards.
func (s *State) Ply() int { return int(s.ply) }

// ForbiddenBid returns the number of tricks that the seat to move may not bid. It is negative if every bid is
// allowed. Only for the seat that bids last can a bid be forbidden.
func (s *State) ForbiddenBid() int {
	if s.missingBids == 1 && s.round >= strictRound && s.bidSum <= s.handSize {
		return int(s.handSize - s.bidSum)
	}
	return noBid
}

func (s *State) Legal(dst []rules.Move) []rules.Move {
	if s.turn < 0 {
		return dst
	}
	if s.missingBids == 0 {
		return s.table.playable(s.hands[s.turn]).Moves(dst)
	}
	refused := s.ForbiddenBid()
	for n := range int(s.handSize) + 1 {
		if n != refused {
			dst = append(dst, bidMove+rules.Move(n))
		}
	}
	return dst
}

func (s *State) Check(m rules.Move) error {
	switch {
	case s.turn < 0:
		return phrase.Errorf("%q cannot be played: %w", s.MoveText(nil, m), rules.ErrOver)
	case s.missingBids > 0:
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
		return phrase.Errorf("%q comes too late, the bids are made: play one of %s", text, may.Text(nil))
	case m >= baraja.Cards || !hand.Has(baraja.Card(m)):
		return phrase.Errorf("%q is not in hand: play one of %s", text, may.Text(nil))
	}
	err := phrase.Errorf("%q is below the trick: play one of %s", text, may.Text(nil))
	switch led := hand&s.table.led != 0; {
	case led && !s.table.led.Has(baraja.Card(m)):
		err = phrase.Errorf("%q does not follow suit: play one of %s", text, may.Text(nil))
	case !led && !s.table.trumps.Has(baraja.Card(m)):
		err = phrase.Errorf("%q does not trump: play one of %s", text, may.Text(nil))
	}
	trick := s.Trick()
	best := trick[(s.winner-s.leader+int8(s.rules.Players))%int8(s.rules.Players)]
	return baraja.RefuseCard(err, hand, may, trick[0], best)
}

func (s *State) checkBid(m rules.Move) error {
	text := func() []byte { return s.MoveText(nil, m) } // made only for errors
	switch {
	case m < bidMove:
		err := phrase.Errorf("%q cannot be played before the bids are made: bid, from bid:0 to bid:%d", text(), s.handSize)
		return rules.Refuse(err, rules.MustBid)
	case m > bidMove+rules.Move(s.handSize):
		return phrase.Errorf("%q is more than the hand: bid from bid:0 to bid:%d", text(), s.handSize)
	case int(m-bidMove) == s.ForbiddenBid():
		err := phrase.Errorf("%q makes the bids add up to the %d cards, which the last bidder may not: bid another number", text(), s.handSize)
		return rules.Refuse(err, rules.BidsAddUp, "count", strconv.Itoa(int(s.handSize)))
	}
	return nil
}

// Apply implements rules.State. It makes the move m, a bid or a card, which must be legal, and logs its events. log
// may be nil.
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
	s.missingBids--
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
	if s.trickSize++; s.trickSize < s.rules.Players {
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
	s.trickSize = 0
	s.table = emptyTable(s.table.trumps)
	if s.hands[s.winner] == 0 {
		s.endRound(log)
	}
}

func (s *State) endRound(log *rules.Log) {
	for seat := range s.rules.Players {
		if s.bids[seat] == s.tricks[seat] {
			s.points[seat] += BidPoints + int16(s.tricks[seat])
		} else {
			s.points[seat] -= BidPoints
		}
	}
	if log != nil {
		log.Add(rules.AllSeats, "score", strings.Trim(fmt.Sprint(s.points[:s.rules.Players]), "[]"))
	}
	if s.round == s.lastRound {
		s.turn = rules.Over
		return
	}
	s.nextRound(log)
}

func (s *State) Clone() rules.State {
	c := *s
	return &c
}

func (s *State) Points() []float64 {
	points := make([]float64, s.rules.Players)
	for seat := range points {
		points[seat] = float64(s.points[seat])
	}
	return points
}
