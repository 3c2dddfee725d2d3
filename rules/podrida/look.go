package podrida

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// The following methods are for bots.

// Rules returns the values of the game's options.
func (s *State) Rules() Rules { return s.rules }

// Pack returns the cards of the game.
func (s *State) Pack() baraja.Set { return s.rules.packSet() }

// Hand returns the hand of a seat. A bot may ask only for its own hand: if the state was made from what the bot may
// know, the other hands are random.
func (s *State) Hand(seat int) baraja.Set { return s.hands[seat] }

// Unseen returns the cards that a seat has not seen in this round.
func (s *State) Unseen(seat int) baraja.Set {
	return s.rules.packSet() &^ s.hands[seat] &^ s.ShownCards()
}

// Trumps returns the suit of trumps.
func (s *State) Trumps() baraja.Suit { return s.trumpCard.Suit() }

// TrumpCard returns the card that determines the suit of trumps.
func (s *State) TrumpCard() baraja.Card { return s.trumpCard }

// Dealer returns the seat that deals in this round.
func (s *State) Dealer() int { return int(s.dealer) }

// Trick returns the cards of the current trick, the leader's card first.
func (s *State) Trick() []baraja.Card {
	return s.playedCards[s.playedCount-s.trickSize : s.playedCount]
}

// Leader returns the seat that leads the current trick. During the bids it is the seat that will lead the first.
func (s *State) Leader() int { return int(s.leader) }

// TricksWon returns the number of tricks that a seat has won in this round.
func (s *State) TricksWon(seat int) int { return int(s.tricks[seat]) }

// MissingTricks returns the number of tricks that a seat still needs for its bid. It is negative if the seat
// has won more.
func (s *State) MissingTricks(seat int) int { return int(s.bids[seat] - s.tricks[seat]) }

// EndWithRound changes the state so that the game ends with the current round. A bot calls it before a search that
// should not look beyond this round. At the end, the bids and the tricks of the round can still be read.
func (s *State) EndWithRound() { s.lastRound = s.round }

// PointsOf returns the points of a seat so far.
func (s *State) PointsOf(seat int) int { return int(s.points[seat]) }

// Round returns the number of the current round. The first round of a game has the number 1.
func (s *State) Round() int { return int(s.round) }

// HandSize returns the number of cards that each seat was dealt in this round.
func (s *State) HandSize() int { return int(s.handSize) }

// BidOf returns the number of tricks that a seat has bid in this round. It is negative if the seat has not bid yet.
func (s *State) BidOf(seat int) int { return int(s.bids[seat]) }

// Bids returns the number of seats that have bid in this round, and the sum of their bids.
func (s *State) Bids() (seats, sum int) {
	return int(s.rules.Players - s.missingBids), int(s.bidSum)
}

// IsBidding reports whether the next move is a bid.
func (s *State) IsBidding() bool { return s.missingBids > 0 }

// Playable returns the cards that the seat to move may play. The bids must have been made.
func (s *State) Playable() baraja.Set { return s.table.playable(s.hands[s.turn]) }

// PlayedBy sets cards[seat], for each seat, to the cards that the seat has played in this round.
func (s *State) PlayedBy(cards *[maxSeats]baraja.Set) {
	*cards = [maxSeats]baraja.Set{}
	for p := range s.plays {
		cards[p.seat] = cards[p.seat].With(p.card)
	}
}

// WinningCards returns all cards, in any hand, that would become the best card of the current trick.
func (s *State) WinningCards() baraja.Set { return s.table.beat }

// BeatingCards returns the cards that would win a trick in which c is the best card so far.
func (s *State) BeatingCards(c baraja.Card) baraja.Set { return s.table.above(c) }

// Bid returns the number of tricks that a move bids. ok is false if the move is not a bid.
func Bid(m rules.Move) (n int, ok bool) { return int(m) - int(bidMove), m >= bidMove }

// BidMove returns the move that bids n tricks.
func BidMove(n int) rules.Move { return bidMove + rules.Move(n) }
