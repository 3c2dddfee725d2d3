package tute

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

const (
	songPoints  = 20
	trumpPoints = 40 // for the 12 and 11 of trumps
)

// pairs returns the suits, one bit each, whose 12 and 11 are both in hand and have not been scored yet.
func (s *State) pairs(hand baraja.Set) (suits uint8) {
	for p := baraja.Pairs(hand, s.SungSuits) & baraja.Twelves; p != 0; p &= p - 1 {
		suits |= 1 << p.First().Suit()
	}
	return suits
}

// Pair returns the set of two cards: the 12 and the 11 of a suit.
func Pair(suit baraja.Suit) baraja.Set {
	return baraja.Set(0).With(baraja.CardOf(12, suit)).With(baraja.CardOf(11, suit))
}

// SongPoints returns the points that a seat gets for declaring ("singing") the 12 and 11 of a suit and winning the
// trick: 40 if the suit is trumps, otherwise 20.
func (s *State) SongPoints(suit baraja.Suit) int16 {
	if suit == s.Trumps() {
		return trumpPoints
	}
	return songPoints
}

// declareAll asks the seats in order from the leader at the start of a trick: each declares a suit whose 12 and 11 it
// holds. It begins with the first seat that was not asked yet. If a seat must choose between suits, it stops there.
// When all were asked, the leader is to move. log may be nil.
func (s *State) declareAll(log *rules.Log) {
	for ; s.askedCount < s.Players; s.askedCount++ {
		s.Mover = int8((s.Leader + s.askedCount) % s.Players)
		pairs := s.pairs(s.Hands[s.Mover])
		switch {
		case pairs == 0:
			continue
		case pairs>>s.Trumps()&1 != 0:
			s.announce(s.Trumps(), log)
		case pairs&(pairs-1) == 0:
			s.announce(baraja.Suit(bits.TrailingZeros8(pairs)), log)
		default:
			s.SongChoice = pairs
			return
		}
	}
	s.Mover = int8(s.Leader)
}

// chooseSong declares suit for the seat to move, which holds the 12 and 11 of several suits and has chosen this one.
// log may be nil.
func (s *State) chooseSong(suit baraja.Suit, log *rules.Log) {
	s.announce(suit, log)
	s.SongChoice = 0
	s.askedCount++
}

// announce records that the seat to move declares the 12 and 11 of a suit. From then on all seats know that
// it holds these cards.
func (s *State) announce(suit baraja.Suit, log *rules.Log) {
	s.DeclaredSuits[s.Mover] = uint8(suit) + 1
	s.KnownCards[s.Mover] |= Pair(suit)
	s.logSong(int(s.Mover), log)
}

// logSong logs which 12 and 11 a seat has declared in this trick, if any. log may be nil.
func (s *State) logSong(seat int, log *rules.Log) {
	suit, ok := s.DeclaredBy(seat)
	if log == nil || !ok {
		return
	}
	log.Add(rules.AllSeats, "sing", seat, suit, int(s.SongPoints(suit)))
}

// DeclaredBy returns the suit whose 12 and 11 a seat has declared in this trick. ok is false if it has declared none.
func (s *State) DeclaredBy(seat int) (suit baraja.Suit, ok bool) {
	return baraja.Suit(s.DeclaredSuits[seat] - 1), s.DeclaredSuits[seat] != 0
}

// scoreSong gives points to the winner of the last trick for the suit that it declared, if it still holds the 12 and
// 11 of that suit. After that no seat can score the suit again. log may be nil.
func (s *State) scoreSong(log *rules.Log) {
	suit, ok := s.DeclaredBy(int(s.Winner))
	if !ok || Pair(suit)&^s.Hands[s.Winner] != 0 {
		return
	}
	s.Table.Points[s.Winner] += s.SongPoints(suit)
	s.SungSuits |= 1 << suit
	if log != nil {
		log.Add(rules.AllSeats, "song", int(s.Winner), int(s.SongPoints(suit)))
	}
}
