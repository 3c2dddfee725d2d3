package tebes

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
)

// Accessors for bots.

// Rules returns the options that the position is played with.
func (s *State) Rules() Rules { return s.rules }

// Count returns how many pieces a seat has.
func (s *State) Count(seat int) int { return bits.OnesCount64(uint64(s.pieces[seat])) }

// Pieces returns where the pieces of a seat stand.
func (s *State) Pieces(seat int) Board { return s.pieces[seat&1] }

// Black returns the black squares.
func (s *State) Black() Board { return s.black }

// Goal returns the two corners that a seat has to hold.
func (s *State) Goal(seat int) Board { return s.geometry().goal[seat&1] }

// Flip returns the squares of a board turned upside down, as the other side sees it.
func (s *State) Flip(b Board) Board { return b.flip() >> (8 * (8 - s.rules.Size)) }

// Captures returns how many captures a seat would have if it were to move.
func (s *State) Captures(seat int) (n int) {
	mine, theirs, near := s.pieces[black], s.pieces[white], s.geometry().all&^s.black
	if seat == white {
		mine, theirs, near = theirs.flip(), mine.flip(), s.black.flip()
	}
	var from sources
	from.find(mine, theirs, 0, near)
	for _, b := range from {
		n += bits.OnesCount64(uint64(b))
	}
	return n
}

// MoveCells returns the cells that a move starts from and ends on.
func (s *State) MoveCells(m rules.Move) (from, to int) {
	move, _ := s.cells(m)
	return int(move.start), int(move.end)
}

// Corners returns how many of the opponent's corners a seat holds.
func (s *State) Corners(seat int) int {
	return bits.OnesCount64(uint64(s.pieces[seat] & s.geometry().goal[seat]))
}

// HasExtra reports whether the extra move of a seat is still to come.
func (s *State) HasExtra(seat int) bool { return s.extra>>seat&1 != 0 }

// IsExtraMove reports whether the move to come is an extra move.
func (s *State) IsExtraMove() bool { return s.bonus }

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

// EndReason returns why the game is over: "corners", "too few pieces", "no moves" or "limit"; "" while
// it is not.
func (s *State) EndReason() string {
	if s.turn >= 0 {
		return ""
	}
	if s.winner == draw {
		return "limit"
	}
	goal, theirs := s.geometry().goal[s.winner], s.pieces[1-s.winner]
	switch {
	case s.pieces[s.winner]&goal == goal:
		return "corners"
	case theirs&(theirs-1) == 0:
		return "too few pieces"
	}
	return "no moves"
}
