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

// pairs returns the suits, one bit each, of which the hand holds 12 and 11 and whose song was not scored yet.
func (s *State) pairs(hand baraja.Set) (suits uint8) {
	for p := baraja.Pairs(hand, s.SungSuits) & baraja.Twelves; p != 0; p &= p - 1 {
		suits |= 1 << p.First().Suit()
	}
	return suits
}

// Pair returns the 12 and the 11 of a suit.
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

// declareAll makes the seats declare their songs, in order from the leader, beginning with the first that was
// not asked yet. It stops if a seat must choose between songs. If none must, the leader is to move.
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

// chooseSong makes the seat to move declare the suit that it has chosen.
func (s *State) chooseSong(suit baraja.Suit, log *rules.Log) {
	s.announce(suit, log)
	s.SongChoice = 0
	s.askedCount++
}

// announce records that the seat to move declares the pair of a suit. From then on all seats know these
// cards.
func (s *State) announce(suit baraja.Suit, log *rules.Log) {
	s.DeclaredSuits[s.Mover] = uint8(suit) + 1
	s.KnownCards[s.Mover] |= Pair(suit)
	s.logSong(int(s.Mover), log)
}

// logSong logs the suit that a seat has declared, if any.
func (s *State) logSong(seat int, log *rules.Log) {
	suit, ok := s.DeclaredBy(seat)
	if log == nil || !ok {
		return
	}
	log.Add(rules.AllSeats, "sing", seat, suit, int(s.SongPoints(suit)))
}

// DeclaredBy returns the suit that a seat has declared in this trick, if any.
func (s *State) DeclaredBy(seat int) (suit baraja.Suit, ok bool) {
	return baraja.Suit(s.DeclaredSuits[seat] - 1), s.DeclaredSuits[seat] != 0
}

// scoreSong gives the winner of the trick just collected the points of its song, if it has declared one and
// still holds the pair. No seat can score that suit again.
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
