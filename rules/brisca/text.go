package brisca

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// LogStart implements rules.State. It logs the deal and the trump card, and a win if the cards dealt to a seat
// win at once.
func (s *State) LogStart(log *rules.Log) {
	s.LogDeal(log)
	if s.Mover < 0 {
		s.FindInstantWins(s.rules.BlackHand, false, log)
	}
}

// MoveText implements rules.State. The text is a card or an exchange: 12c or swap:7o.
func (s *State) MoveText(dst []byte, m rules.Move) []byte { return baraja.MoveText(dst, m) }

func (s *State) ParseMove(text string) (rules.Move, error) {
	return baraja.ParseMove(text)
}
