package tute

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

const (
	songPoints  = 20
	trumpPoints = 40 // for the song in trumps
)

// pairs returns the suits, a bit each, of which a hand holds 12 and 11 and that are
// not done.
func (s *State) pairs(hand baraja.Set) (suits uint8) {
	for p := baraja.Pairs(hand, s.SungSuits) & baraja.Twelves; p != 0; p &= p - 1 {
		suits |= 1 << p.First().Suit()
	}
	return suits
}

// Pair returns 12 and 11 of a suit.
func Pair(suit baraja.Suit) baraja.Set {
	return baraja.Set(0).With(baraja.CardOf(12, suit)).With(baraja.CardOf(11, suit))
}

// SongPoints returns the points of the song in a suit.
func (s *State) SongPoints(suit baraja.Suit) int16 {
	if suit == s.Trumps() {
		return trumpPoints
	}
	return songPoints
}

// declareAll lets the seats from the leader on declare, from the one whose turn
// it is, until one must choose or all have. Then the leader is to move.
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
			s.Choice = pairs
			return
		}
	}
	s.Mover = int8(s.Leader)
}

// declare is the choice of the seat to move.
func (s *State) declare(suit baraja.Suit, log *rules.Log) {
	s.announce(suit, log)
	s.Choice = 0
	s.askedCount++
}

// announce declares the pair of a suit for the seat to move: from now on all
// know its two cards.
func (s *State) announce(suit baraja.Suit, log *rules.Log) {
	s.DeclaredSuits[s.Mover] = uint8(suit) + 1
	s.KnownCards[s.Mover] |= Pair(suit)
	s.logSong(int(s.Mover), log)
}

// logSong logs what a seat has declared.
func (s *State) logSong(seat int, log *rules.Log) {
	suit, ok := s.DeclaredBy(seat)
	if log == nil || !ok {
		return
	}
	log.Add(rules.AllSeats, "sing", seat, suit, int(s.SongPoints(suit)))
}

// DeclaredBy returns the suit that a seat has declared in this trick, if it has.
func (s *State) DeclaredBy(seat int) (suit baraja.Suit, ok bool) {
	return baraja.Suit(s.DeclaredSuits[seat] - 1), s.DeclaredSuits[seat] != 0
}

// scoreSong gives the winner of the trick just collected its song, if it has
// declared one and still holds the pair. That suit is done then.
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
