package brisca

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// Start logs the deal, the trump card and a win by the deal alone.
func (s *State) Start(log *rules.Log) {
	s.LogDeal(log)
	if s.Mover < 0 {
		s.Instants(s.rules.BlackHand, false, log)
	}
}

// View appends what a seat may know, in full.
func (s *State) View(dst []byte, seat int) []byte { return s.Table.View(dst, seat) }

// MoveText appends a move as the protocol writes it: 12c, or swap:7o.
func (s *State) MoveText(dst []byte, m rules.Move) []byte { return baraja.MoveText(dst, m) }

// ParseMove reads what MoveText writes.
func (s *State) ParseMove(text string) (rules.Move, error) {
	return baraja.ParseMove(name, text)
}

// Result is the points by seat, ranked by side.
func (s *State) Result() rules.Result { return rules.RankByPoints(Variant{s.rules}, s.Floats()) }

// Clone is an independent copy.
func (s *State) Clone() rules.State {
	c := *s
	return &c
}

// Redeal shuffles what a seat cannot see: the other hands, but for the cards
// that all know to be there, and the stock above the trump card. A game that is
// over is left as it is.
func (s *State) Redeal(seat int, r *rules.Rand) {
	if s.Mover >= 0 {
		s.Table.Redeal(seat, s.AllKnown(), r)
	}
}
