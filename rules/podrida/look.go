package podrida

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// Accessors for bots. They may ask for the hand of their own seat alone: the
// others are drawn where a state is made from a view.

// Rules returns the options that the position is played with.
func (s *State) Rules() Rules { return s.rules }

// Pack returns the cards that the game is played with.
func (s *State) Pack() baraja.Set { return s.rules.packSet() }

// Hand returns the cards of a seat.
func (s *State) Hand(seat int) baraja.Set { return s.hands[seat] }

// Unseen returns the cards that a seat has not seen in this round.
func (s *State) Unseen(seat int) baraja.Set {
	return s.rules.packSet() &^ s.hands[seat] &^ s.ShownCards()
}

// Trumps returns the suit of trumps.
func (s *State) Trumps() baraja.Suit { return s.trumpCard.Suit() }

// TrumpCard returns the card that shows the trumps.
func (s *State) TrumpCard() baraja.Card { return s.trumpCard }

// Dealer returns the seat that deals in this round.
func (s *State) Dealer() int { return int(s.dealer) }

// Trick returns the cards of the current trick, from the leader.
func (s *State) Trick() []baraja.Card { return s.playedCards[s.playedCount-s.inTrick : s.playedCount] }

// Leader returns the seat that leads the current trick, or will when the bids are made.
func (s *State) Leader() int { return int(s.leader) }

// TricksWon returns how many tricks a seat has won in this round.
func (s *State) TricksWon(seat int) int { return int(s.tricks[seat]) }

// MissingTricks returns how many tricks a seat still needs for its bid; negative if it has won
// more.
func (s *State) MissingTricks(seat int) int { return int(s.bids[seat] - s.tricks[seat]) }

// EndWithRound makes this round the last of the game, for a search that looks no further: the
// position after it is over, and Missing still tells how the seats fulfilled their bids.
func (s *State) EndWithRound() { s.last = s.round }

// PointsOf returns the points of a seat so far.
func (s *State) PointsOf(seat int) int { return int(s.points[seat]) }

// Cards returns how many cards each seat was dealt in this round.
func (s *State) Cards() int { return int(s.cards) }

// BidOf returns the bid of a seat in this round, below 0 if it has not bid.
func (s *State) BidOf(seat int) int { return int(s.bids[seat]) }

// Bids returns how many seats have bid in this round, and the sum of their bids.
func (s *State) Bids() (seats, sum int) {
	return int(s.rules.Players - s.toBid), int(s.bidSum)
}

// IsBidding reports whether the next move is a bid.
func (s *State) IsBidding() bool { return s.toBid > 0 }

// Playable returns the cards that the seat to move may play when the bids are made.
func (s *State) Playable() baraja.Set { return s.table.playable(s.hands[s.turn]) }

// PlayedBy sets, by seat, the cards that were played in this round.
func (s *State) PlayedBy(cards *[maxSeats]baraja.Set) {
	*cards = [maxSeats]baraja.Set{}
	for p := range s.plays {
		cards[p.seat] = cards[p.seat].With(p.card)
	}
}

// WinningCards returns the cards that would now win the trick.
func (s *State) WinningCards() baraja.Set { return s.table.beat }

// BeatingCards returns the cards that would win from a card that is winning a trick.
func (s *State) BeatingCards(c baraja.Card) baraja.Set { return s.table.above(c) }

// Bid returns the number of a move that is a bid.
func Bid(m rules.Move) (n int, ok bool) { return int(m) - int(bidMove), m >= bidMove }

// BidMove returns the move that bids a number of tricks.
func BidMove(n int) rules.Move { return bidMove + rules.Move(n) }
