package tebes

import "math/bits"

// Accessors for bots.

// Rules returns the options that the position is played with.
func (s *State) Rules() Rules { return s.rules }

// Count returns how many pieces a seat has.
func (s *State) Count(seat int) int { return bits.OnesCount64(uint64(s.pieces[seat])) }

// Corners returns how many of the opponent's corners a seat holds.
func (s *State) Corners(seat int) int {
	return bits.OnesCount64(uint64(s.pieces[seat] & s.geometry().goal[seat]))
}

// Row returns how many pieces of a seat stand in a row, counted from the top.
func (s *State) Row(seat, row int) int {
	return bits.OnesCount8(uint8(s.pieces[seat] >> (8 * row)))
}

// Winner returns the seat that has won, -1 while nobody has.
func (s *State) Winner() int {
	if s.turn >= 0 {
		return -1
	}
	return int(s.winner)
}
