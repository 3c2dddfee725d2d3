package brisca

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// LogStart logs the deal, the trump card and a win by the deal alone.
func (s *State) LogStart(log *rules.Log) {
	s.LogDeal(log)
	if s.Mover < 0 {
		s.FindInstantWins(s.rules.BlackHand, false, log)
	}
}

// MoveText appends a move as the protocol writes it: 12c, or swap:7o.
func (s *State) MoveText(dst []byte, m rules.Move) []byte { return baraja.MoveText(dst, m) }

// ParseMove reads what MoveText writes.
func (s *State) ParseMove(text string) (rules.Move, error) {
	return baraja.ParseMove(name, text)
}
