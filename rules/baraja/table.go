package baraja

import (
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
)

const (
	// TableSeats is the maximum number of seats at a Table.
	TableSeats = 4
	// TableCards is the maximum number of cards at a Table.
	TableCards = 40
	// SwapMove plus the number of a card is the move that exchanges that card for the trump card on the table.
	SwapMove rules.Move = Cards
)

// Table is the state that Brisca and Tute share: the hands, the stock, which ends in the trump card, the current
// trick and the points. Each of its methods makes one step and knows no options; the games combine them.
//
// Pack holds two things. The cards that were played, in order, fill it from the front; the current trick is
// the last TrickSize of them. The stock fills the back of the first Size places, with the next card to draw first and
// the trump card in the last of them. The two cannot overlap because a card is dealt or drawn before it is played. Until the
// first card is played, the front has the deal: card j of a seat is at j*Players+seat.
type Table struct {
	Hands      [TableSeats]Set   // by seat
	KnownCards [TableSeats]Set   // by seat: the cards that all seats know to be in the hand
	Pack       [TableCards]Card  // the cards played, from the front, and those to be drawn, at the back
	Points     [TableSeats]int16 // by seat
	Plies      uint16            // number of moves made

	Mover       int8  // the seat to move, or rules.Over
	Players     uint8 // number of seats in use
	Leader      uint8 // the seat that leads the current trick
	Winner      uint8 // the seat that is winning the current trick
	Best        Card  // the card that is winning the current trick
	Pot         uint8 // points of the cards in the current trick
	TrickSize   uint8 // number of cards in the current trick
	PlayedCount uint8 // number of cards played in the game
	NextDraw    uint8 // index in Pack of the next card to draw
	DrawEnd     uint8 // index after the last card that will be drawn: Size, or Size-1 if the trump card is never drawn
	Size        uint8 // number of cards in the game: 40, or 39 without a two
	Trump       Card  // the trump card, also after it was drawn
	trumps      Suit  // suit of the trump card
}

// Shuffle sets Pack to the cards of a game with the rules r in random order.
func (t *Table) Shuffle(r TableRules, src *rules.Stream) {
	t.Arrange(r.Pack())
	rules.Shuffle(src, t.Pack[:t.Size])
}

// Arrange sets Pack to the given cards in their order. There must be at most TableCards.
func (t *Table) Arrange(cards []Card) { t.Size = uint8(copy(t.Pack[:], cards)) }

// Deal deals perSeat cards to each seat from the shuffled Pack, one at a time from seat 0. Then it turns up the next
// card, which determines the suit of trumps. All other fields except Size must be zero. The trump card is drawn last;
// it is never drawn if the rest of the stock cannot be drawn evenly.
func (t *Table) Deal(players, perSeat int) {
	n := 0
	for range perSeat {
		for seat := range players {
			t.Hands[seat] |= t.Pack[n].bit()
			n++
		}
	}
	t.SetTrump(t.Pack[n])
	size := int(t.Size)
	copy(t.Pack[n:], t.Pack[n+1:size])
	t.Pack[size-1] = t.Trump
	t.Players, t.NextDraw = uint8(players), uint8(n)
	t.DrawEnd = uint8(size - (size-n)%players)
}

// SetTrump sets the trump card and the suit of trumps.
func (t *Table) SetTrump(c Card) { t.Trump, t.trumps = c, c.Suit() }

// Trumps returns the suit of trumps.
func (t *Table) Trumps() Suit { return t.trumps }

// TrumpOnTable reports whether the trump card still lies on the table.
func (t *Table) TrumpOnTable() bool { return t.NextDraw < t.Size }

// Trick returns the cards of the current trick, the leader's card first.
func (t *Table) Trick() []Card { return t.Pack[t.PlayedCount-t.TrickSize : t.PlayedCount] }

// Play is a card that a seat has played, with the state of the trick just before.
type Play struct {
	Seat int
	Card Card
	Led  Card // the first card of the trick; NoCard if this card is the first
	Best Card // the card that was winning the trick; meaningless if this card is the first
}

// Plays yields all cards played in the game, in order, including those of the current trick. With each card it
// yields the state of the trick just before.
func (t *Table) Plays(yield func(Play) bool) {
	seat, winner, place := uint8(0), uint8(0), uint8(0)
	led, best := NoCard, NoCard
	for _, c := range t.Pack[:t.PlayedCount] {
		if !yield(Play{int(seat), c, led, best}) {
			return
		}
		if place == 0 {
			led, best, winner = c, c, seat
		} else if beats[t.trumps%4][best&63].Has(c & 63) {
			best, winner = c, seat
		}
		if place++; place == t.Players {
			place, seat, led = 0, winner, NoCard
		} else if seat++; seat == t.Players {
			seat = 0
		}
	}
}

// PlayedBy sets cards[seat], for each seat, to the cards that the seat has played in the game, including the current
// trick.
func (t *Table) PlayedBy(cards *[TableSeats]Set) {
	*cards = [TableSeats]Set{}
	for p := range t.Plays {
		cards[p.Seat%TableSeats] |= p.Card.bit()
	}
}

// StockSize returns the number of cards that will still be drawn. It includes the trump card on the table, unless
// that card is never drawn.
func (t *Table) StockSize() int { return int(t.DrawEnd - t.NextDraw) }

// Unseen returns the cards that a seat has never seen: those outside its hand that were not played and are
// not the trump card. They include cards that all seats know to be in another hand.
func (t *Table) Unseen(seat int) Set {
	return t.cards() &^ t.Hands[seat] &^ SetOf(t.Pack[:t.PlayedCount]) &^ t.Trump.bit()
}

// cards returns the cards of the game.
func (t *Table) cards() Set {
	if t.Size < TableCards {
		return set39
	}
	return set40
}

// FloatPoints returns the points of each seat. The length is the number of players.
func (t *Table) FloatPoints() []float64 {
	points := make([]float64, t.Players)
	for seat := range points {
		points[seat] = float64(t.Points[seat])
	}
	return points
}

// Turn returns the seat to move, or rules.Over.
func (t *Table) Turn() int { return int(t.Mover) }

// Ply returns the number of moves made.
func (t *Table) Ply() int { return int(t.Plies) }

// PlayCard plays c from the hand of the seat to move. It returns true if that completes the trick; the caller
// must then call CollectTrick. Otherwise the next seat is to move.
func (t *Table) PlayCard(c Card) bool {
	seat := uint8(t.Mover)
	t.Hands[seat%TableSeats] &^= c.bit()
	t.KnownCards[seat%TableSeats] &^= c.bit()
	t.Pack[t.PlayedCount] = c
	t.PlayedCount++
	t.TrickSize++
	t.Pot += values[c&63]
	if t.TrickSize == 1 || beats[t.trumps%4][t.Best&63].Has(c&63) {
		t.Best, t.Winner = c, seat
	}
	if t.TrickSize == t.Players {
		return true
	}
	if seat++; seat == t.Players {
		seat = 0
	}
	t.Mover = int8(seat)
	return false
}

// IsLastTrick reports whether the current trick, which must be complete, is the last of the game.
func (t *Table) IsLastTrick() bool { return t.PlayedCount == t.DrawEnd }

// CollectTrick gives the points of the complete trick to its winner, who leads the next trick. If it is the
// last trick, it adds bonus to these points and ends the game. log may be nil.
func (t *Table) CollectTrick(bonus int16, log *rules.Log) {
	won := int16(t.Pot)
	if t.IsLastTrick() {
		won += bonus
	}
	t.Points[t.Winner%TableSeats] += won
	t.Leader, t.Mover = t.Winner, int8(t.Winner)
	t.TrickSize, t.Pot = 0, 0
	if log != nil {
		log.Add(rules.AllSeats, "trick", int(t.Winner), int(won))
	}
	if t.IsLastTrick() {
		t.Mover = rules.Over
	}
}

// IsHunt3 reports whether the current trick, which must be complete and of two players, captures the 3 of trumps with
// the 1 of trumps. Normally the 3 must have been led; in the last trick the 1 may have been led instead.
func (t *Table) IsHunt3() bool {
	led, put := t.Pack[t.PlayedCount-2], t.Pack[t.PlayedCount-1]
	one, three := CardOf(1, t.trumps), CardOf(3, t.trumps)
	return led == three && put == one || led == one && put == three && t.IsLastTrick()
}

// DrawCards makes every seat draw a card, the leader first. It does nothing if the stock is empty. log may be nil.
func (t *Table) DrawCards(log *rules.Log) {
	if t.NextDraw >= t.DrawEnd {
		return
	}
	seat := t.Leader
	for range t.Players {
		c := t.Pack[t.NextDraw]
		t.NextDraw++
		t.Hands[seat%TableSeats] |= c.bit()
		if log != nil {
			t.logDraw(int(seat), c, log)
		}
		if t.NextDraw == t.Size {
			t.KnownCards[seat%TableSeats] |= c.bit()
		}
		if seat++; seat == t.Players {
			seat = 0
		}
	}
}

func (t *Table) logDraw(seat int, c Card, log *rules.Log) {
	who := rules.OneSeat(seat)
	if c == t.Trump {
		who = rules.AllSeats
	}
	log.Add(who, "draw", seat, c)
	if others := rules.AllSeats &^ who; others != 0 {
		log.Add(others, "draw", seat, "?")
	}
}

// LegalSwaps returns the card that the seat to move may exchange for the trump card, as a set. The set is empty
// if the seat does not hold that card, or if the trump card was drawn. LegalSwaps ignores whether the options
// allow exchanges.
func (t *Table) LegalSwaps() Set {
	if !t.TrumpOnTable() {
		return 0
	}
	return t.Hands[t.Mover] & swapPrice(t.Trump)
}

// swapPrice returns the card that a seat must give in exchange for the trump card, as a set. It is the 7 of trumps if
// the trump card is a 1, 3, 12, 11 or 10, and the 2 of trumps if it is a 7, 6, 5 or 4. The set is empty if the trump
// card is the 2.
func swapPrice(trump Card) Set {
	switch trump.Rank() {
	case 2:
		return 0
	case 4, 5, 6, 7:
		return CardOf(2, trump.Suit()).bit()
	}
	return CardOf(7, trump.Suit()).bit()
}

// Swap exchanges card c of the seat to move for the trump card. The same seat stays to move. log may be nil.
func (t *Table) Swap(c Card, log *rules.Log) {
	t.Hands[t.Mover] = t.Hands[t.Mover].Without(c).With(t.Trump)
	t.KnownCards[t.Mover] = t.KnownCards[t.Mover].Without(c).With(t.Trump)
	t.Trump = c
	t.Pack[t.Size-1] = c
	if log != nil {
		log.Add(rules.AllSeats, "swap", int(t.Mover), c)
	}
}

// CheckSwap returns nil if the seat to move may exchange its card c for the trump card, and otherwise an error with
// the reason. exchange says whether the game's options allow exchanges.
func (t *Table) CheckSwap(c Card, exchange bool) error {
	price := swapPrice(t.Trump)
	switch {
	case !exchange:
		return phrase.Errorf("\"swap:%v\" is not in this game: play a card, or set exchange=yes", c)
	case !t.TrumpOnTable():
		return phrase.Errorf("\"swap:%v\" comes too late, for the trump card has been drawn: play a card", c)
	case price == 0:
		return phrase.Errorf("\"swap:%v\" is not possible, for nothing is given for the %v: play a card", c, t.Trump)
	case !price.Has(c):
		return phrase.Errorf("\"swap:%v\" does not buy the %v: try swap:%v", c, t.Trump, price.First())
	case !t.Hands[t.Mover].Has(c):
		return phrase.Errorf("\"swap:%v\" needs a card that is not in hand: play a card", c)
	}
	return nil
}

// FindInstantWins returns the seats whose hands win at once: 1, 3 and 12 of trumps if blackhand is true, and all four
// 12s or all four 11s if tute is true. It logs each such hand, in order from the leader; log may be nil. It does not
// end the game; WinAtOnce does.
func (t *Table) FindInstantWins(blackhand, tute bool, log *rules.Log) (won rules.Seats) {
	black := black[t.trumps%4]
	seat := t.Leader
	for range t.Players {
		hand := t.Hands[seat%TableSeats]
		if blackhand && hand&black == black {
			won |= rules.OneSeat(int(seat))
			logInstant(int(seat), "blackhand", log)
		}
		if tute && (hand&Twelves == Twelves || hand&Elevens == Elevens) {
			won |= rules.OneSeat(int(seat))
			logInstant(int(seat), "tute", log)
		}
		if seat++; seat == t.Players {
			seat = 0
		}
	}
	return won
}

func logInstant(seat int, why string, log *rules.Log) {
	if log == nil {
		return
	}
	log.Add(rules.AllSeats, "instant", seat, why)
}

// HasInstantWin reports whether any seat holds a hand that wins at once, as FindInstantWins defines it. The card that
// a seat has played to the current trick counts as part of its hand.
func (t *Table) HasInstantWin(blackhand, tute bool) bool {
	if !blackhand && !tute {
		return false
	}
	black := black[t.trumps%4]
	for seat := range int(t.Players) {
		held := t.HandAndTrickCard(seat)
		if blackhand && held&black == black || tute && (held&Twelves == Twelves || held&Elevens == Elevens) {
			return true
		}
	}
	return false
}

// WinHunt ends the game because the current trick, which must be complete, captures the 3 of trumps with the 1. It
// sets the points of the winner of the trick to full, and the points of the others to 0.
func (t *Table) WinHunt(full int16, log *rules.Log) {
	logInstant(int(t.Winner), "hunt3", log)
	t.WinAtOnce(rules.OneSeat(int(t.Winner)), full)
}

// WinAtOnce ends the game. It sets the points of each seat in the set won to full, and the points of the others to 0.
func (t *Table) WinAtOnce(won rules.Seats, full int16) {
	for seat := range t.Points {
		t.Points[seat] = 0
		if won&rules.OneSeat(seat) != 0 {
			t.Points[seat] = full
		}
	}
	t.Mover = rules.Over
}
