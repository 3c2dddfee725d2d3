package podrida

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// Accessors for bots. They may ask for the hand of their own seat alone: the
// others are drawn where a state is made from a view.

// Rules returns the options that the position is played with.
func (s *State) Rules() Rules { return s.rules }

// Hand returns the cards of a seat.
func (s *State) Hand(seat int) baraja.Set { return s.hands[seat] }

// Unseen returns the cards that a seat has not seen in this round.
func (s *State) Unseen(seat int) baraja.Set {
	return s.rules.packSet() &^ s.hands[seat] &^ s.shown()
}

// Trumps returns the suit of trumps.
func (s *State) Trumps() baraja.Suit { return s.turned.Suit() }

// Trick returns the cards of the current trick, from the leader.
func (s *State) Trick() []baraja.Card { return s.played[s.count-s.inTrick : s.count] }

// Leader returns the seat that leads the current trick, or will when the bids are made.
func (s *State) Leader() int { return int(s.leader) }

// Missing returns how many tricks a seat still needs for its bid; negative if it has won
// more.
func (s *State) Missing(seat int) int { return int(s.bids[seat] - s.tricks[seat]) }

// Winning returns the cards that would now win the trick.
func (s *State) Winning() baraja.Set { return s.table.beat }

// Beats returns the cards that would win from a card that is winning a trick.
func (s *State) Beats(c baraja.Card) baraja.Set { return s.table.above(c) }

// Bid returns the number of a move that is a bid.
func Bid(m rules.Move) (n int, ok bool) { return int(m) - int(bidMove), m >= bidMove }
