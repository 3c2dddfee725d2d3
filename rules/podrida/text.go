package podrida

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// LogStart implements rules.State. It logs the deal of the first round.
func (s *State) LogStart(log *rules.Log) {
	// The hands have one card each, so the order of the deal follows from them.
	dealt := make([]baraja.Card, 0, maxSeats)
	for seat, n := s.dealer, s.rules.Players; n > 0; n-- {
		seat = s.next(seat)
		dealt = append(dealt, s.hands[seat].First())
	}
	s.logRound(log, dealt)
}

// logRound logs the deal of a round: to each seat its own hand, and to all seats the trump card. dealt has the cards
// of all hands in the order in which they were dealt.
func (s *State) logRound(log *rules.Log, dealt []baraja.Card) {
	log.Add(rules.AllSeats, fmt.Sprintf("round %d cards=%d dealer=%d", s.round, s.handSize, s.dealer))
	players := int(s.rules.Players)
	first := int(s.next(s.dealer))
	var hand []baraja.Card
	for seat := range players {
		hand = hand[:0]
		for i := (seat - first + players) % players; i < len(dealt); i += players {
			hand = append(hand, dealt[i])
		}
		log.Add(rules.OneSeat(seat), "deal", string(baraja.Text(nil, hand)))
	}
	log.Add(rules.AllSeats, "trump", s.trumpCard.Suit(), s.trumpCard)
}

// View implements rules.State. It appends to dst what a seat may know, as "key=value" pairs.
func (s *State) View(dst []byte, seat int) []byte {
	dst = number(dst, "round=", int(s.round))
	dst = number(dst, " cards=", int(s.handSize))
	dst = number(dst, " dealer=", int(s.dealer))
	dst = append(append(dst, " trump="...), s.trumpCard.String()...)
	dst = s.hands[seat].Text(append(dst, " hand="...))
	dst = bySeat(append(dst, " bids="...), s.bids[:s.rules.Players], noBid)
	dst = bySeat(append(dst, " tricks="...), s.tricks[:s.rules.Players], noBid)
	dst = number(dst, " leader=", int(s.leader))
	earlier := s.playedCount - s.trickSize
	dst = baraja.Text(append(dst, " trick="...), s.Trick())
	dst = baraja.Text(append(dst, " played="...), s.playedCards[:earlier])
	dst = s.leaders(append(dst, " leaders="...))
	return bySeat(append(dst, " points="...), s.points[:s.rules.Players], noPoints)
}

// leaders appends to dst the seats that led the finished tricks of this round, in order and joined by
// commas, or "-" if there are none.
func (s *State) leaders(dst []byte) []byte {
	finished := int(s.playedCount-s.trickSize) / int(s.rules.Players)
	if finished == 0 {
		return append(dst, '-')
	}
	for p := range s.plays {
		if p.table.led != everyCard {
			continue
		}
		dst = strconv.AppendInt(dst, int64(p.seat), 10)
		if finished--; finished == 0 {
			break
		}
		dst = append(dst, ',')
	}
	return dst
}

// noPoints is a number that no seat can have as points. Passing it as the argument none of bySeat makes bySeat write
// all numbers.
const noPoints = -1 << 15

func number(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}

// bySeat appends numbers, one for each seat, to dst, joined by commas. It writes "-" in place of a number that equals
// none.
func bySeat[T int8 | int16](dst []byte, numbers []T, none T) []byte {
	for seat, n := range numbers {
		if seat > 0 {
			dst = append(dst, ',')
		}
		if n == none {
			dst = append(dst, '-')
		} else {
			dst = strconv.AppendInt(dst, int64(n), 10)
		}
	}
	return dst
}

const bidPrefix = "bid:"

// MoveText implements rules.State. The text is a card or bid:n, or "?" for a number that is not a move.
func (s *State) MoveText(dst []byte, m rules.Move) []byte {
	switch {
	case m < baraja.Cards:
		return append(dst, baraja.Card(m).String()...)
	case m >= bidMove && m <= bidMove+maxCards:
		return number(dst, bidPrefix, int(m-bidMove))
	}
	return append(dst, '?')
}

func (s *State) ParseMove(text string) (rules.Move, error) {
	if digits, ok := strings.CutPrefix(text, bidPrefix); ok {
		for n := range maxCards + 1 {
			if strconv.Itoa(n) == digits {
				return bidMove + rules.Move(n), nil
			}
		}
		return 0, phrase.Errorf("%q is not a bid: write bid:0 to bid:%d", text, maxCards)
	}
	c, err := baraja.Parse(text)
	if err != nil {
		return 0, phrase.Errorf("%q is not a move: write a card as rank and suit (12c) or a bid (bid:2)", text)
	}
	return rules.Move(c), nil
}
