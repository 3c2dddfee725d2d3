package tute

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

const (
	songPoints  = 20
	trumpPoints = 40 // for the song in trumps
)

// pairs is the suits, a bit each, of which a hand holds 12 and 11 and that are
// not done.
func (s *State) pairs(hand baraja.Set) (suits uint8) {
	// A 12 is the bit above its 11.
	for p := hand & (hand >> 1) & baraja.Elevens; p != 0; p &= p - 1 {
		suits |= 1 << p.First().Suit()
	}
	return suits &^ s.Sung
}

// pair is 12 and 11 of a suit.
func pair(suit baraja.Suit) baraja.Set {
	return baraja.Set(0).With(baraja.Of(12, suit)).With(baraja.Of(11, suit))
}

// points is what a song in a suit is worth.
func (s *State) points(suit baraja.Suit) int16 {
	if suit == s.Trumps() {
		return trumpPoints
	}
	return songPoints
}

// declareAll lets the seats from the leader on declare, from the one whose turn
// it is, until one must choose or all have. Then the leader is to move.
func (s *State) declareAll(log *rules.Log) {
	for ; s.asked < s.Players; s.asked++ {
		s.Mover = int8((s.Leader + s.asked) % s.Players)
		pairs := s.pairs(s.Hands[s.Mover])
		switch {
		case pairs == 0:
			continue
		case pairs>>s.Trumps()&1 != 0:
			s.announce(s.Trumps(), log)
		case pairs&(pairs-1) == 0:
			s.announce(onlySuit(pairs), log)
		default:
			s.Choice = pairs
			return
		}
	}
	s.Mover = int8(s.Leader)
}

// onlySuit is the suit of a single bit.
func onlySuit(bit uint8) (suit baraja.Suit) {
	for ; bit > 1; bit >>= 1 {
		suit++
	}
	return suit
}

// declare is the choice of the seat to move.
func (s *State) declare(suit baraja.Suit, log *rules.Log) {
	s.announce(suit, log)
	s.Choice = 0
	s.asked++
}

// announce declares the pair of a suit for the seat to move: from now on all
// know its two cards.
func (s *State) announce(suit baraja.Suit, log *rules.Log) {
	s.Declared[s.Mover] = uint8(suit) + 1
	s.Known[s.Mover] |= pair(suit)
	s.logSong(int(s.Mover), log)
}

// logSong logs what a seat has declared.
func (s *State) logSong(seat int, log *rules.Log) {
	if log == nil || s.Declared[seat] == 0 {
		return
	}
	suit := baraja.Suit(s.Declared[seat] - 1)
	log.Begin(rules.All, "sing")
	log.Int(seat)
	log.Word(suit.String())
	log.Int(int(s.points(suit)))
}

// scoreSong gives the winner of the trick just collected its song, if it has
// declared one and still holds the pair. That suit is done then.
func (s *State) scoreSong(log *rules.Log) {
	if s.Declared[s.Winner] == 0 {
		return
	}
	suit := baraja.Suit(s.Declared[s.Winner] - 1)
	if pair(suit)&^s.Hands[s.Winner] != 0 {
		return
	}
	s.Points[s.Winner] += s.points(suit)
	s.Sung |= 1 << suit
	if log != nil {
		log.Begin(rules.All, "song")
		log.Int(int(s.Winner))
		log.Int(int(s.points(suit)))
	}
}
