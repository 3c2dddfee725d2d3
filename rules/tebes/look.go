package tebes

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
)

// The following methods are for bots.

// Rules returns the values of the game's options.
func (s *State) Rules() Rules { return s.rules }

// PieceCount returns the number of pieces of a seat.
func (s *State) PieceCount(seat int) int { return bits.OnesCount64(uint64(s.pieces[seat])) }

// Pieces returns the squares on which the pieces of a seat stand.
func (s *State) Pieces(seat int) Board { return s.pieces[seat&1] }

// BlackSquares returns the black squares.
func (s *State) BlackSquares() Board { return s.black }

// Goal returns the two corners that the seat must occupy at the same time to win.
func (s *State) Goal(seat int) Board { return s.geometry().goal[seat&1] }

// Flip returns the set of squares b as seen on a board that is turned upside down: the first row becomes the last.
func (s *State) Flip(b Board) Board { return b.flip() >> (8 * (8 - s.rules.Size)) }

// CaptureCount returns the number of captures that the seat could make if it were that seat's turn.
func (s *State) CaptureCount(seat int) (n int) {
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

// MoveCells returns the squares where a move starts and ends, as bit indexes in a Board.
func (s *State) MoveCells(m rules.Move) (from, to int) {
	move, _ := s.cells(m)
	return int(move.start), int(move.end)
}

// CornerCount returns how many of its two goal corners the seat occupies.
func (s *State) CornerCount(seat int) int {
	return bits.OnesCount64(uint64(s.pieces[seat] & s.geometry().goal[seat]))
}

// HasExtra reports whether the seat can still get its extra move. A seat gets it once, when one of its pieces first
// reaches a goal corner.
func (s *State) HasExtra(seat int) bool { return s.extra>>seat&1 != 0 }

// IsExtraMove reports whether the next move is an extra move, which a seat gets when it has just reached a goal
// corner.
func (s *State) IsExtraMove() bool { return s.bonus }

// RowCount returns the number of pieces of a seat in a row. Rows are counted from 0 at the top.
func (s *State) RowCount(seat, row int) int {
	return bits.OnesCount8(uint8(s.pieces[seat] >> (8 * row)))
}

// Winner returns the seat that has won, or -1 if nobody has.
func (s *State) Winner() int {
	if s.turn >= 0 {
		return -1
	}
	return int(s.winner)
}

// EndReason returns why the game is over: "corners" if the winner holds all its goal corners, "too few pieces" if the
// loser has at most one piece, "no moves" if the loser cannot move, and "limit" if the game is a draw by the limit of
// moves. It returns "" if the game is not over. It implements rules.Ender.
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
