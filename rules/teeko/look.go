package teeko

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
)

// The following functions and methods are for bots.

// limitHorizon is a number of moves. If fewer moves remain before the limit ends the game, Key depends on the number
// of moves made.
const limitHorizon = 64

// Key returns a hash of the state for the tables of searches. It depends on the pieces, the side to move, whether
// pieces are being placed and, close to the limit, the number of moves made.
func (s *State) Key() uint64 {
	rest := uint64(s.turn) & 3
	if s.IsPlacing() {
		rest |= 4
	}
	if s.lastPly-s.ply < limitHorizon {
		rest |= uint64(s.lastPly-s.ply+1) << 3
	}
	board := uint64(s.board[black]) | uint64(s.board[white])<<32
	hi, lo := bits.Mul64(board^0xa0761d6478bd642f, rest^0xe7037ed1a0b428db)
	hi, lo = bits.Mul64(hi^lo^0x8ebc6af09c88c6e3, board^0x589965cc75374cc3)
	return hi ^ lo
}

// MoveSquares returns the squares where a move starts and ends. If the move places a new piece, both are the
// square of that piece.
func MoveSquares(m rules.Move) (from, to int) {
	if m < moveBase {
		return int(m), int(m)
	}
	return split(m)
}

// IsPlacing reports whether the next move places a new piece instead of moving one.
func (s *State) IsPlacing() bool { return s.rules.Drop && int(s.ply)+s.opening.Plies() < 2*pieces }

// Neighbors returns the squares next to a square.
func Neighbors(square int) Board { return neighbours[square&31] }

// Winner returns the seat that has won, or -1 if nobody has.
func (s *State) Winner() int { return int(s.winner) }

// Pieces returns the squares on which the pieces of a seat stand.
func (s *State) Pieces(seat int) Board { return s.board[seat] }

// Shapes returns the sets of four squares whose occupation wins the game. The slice must not be modified.
func (s *State) Shapes() []Board {
	if s.rules.Advanced {
		return advancedShapes
	}
	return standardShapes
}

// HasWon reports whether a seat has won.
func (s *State) HasWon(seat int) bool { return int(s.winner) == seat }

// The results of State.EndReason, which say why a game of Teeko ended.
const (
	EndLine   = "line"   // the winner has four pieces in a line
	EndSquare = "square" // the winner has four pieces in a square
	EndLimit  = "limit"  // nobody has won within the limit of moves
)

// EndReason returns why the game is over: EndLine, EndSquare or EndLimit. It returns "" if the game is not over. It
// implements rules.Ender.
func (s *State) EndReason() string {
	switch {
	case s.turn >= 0:
		return ""
	case s.winner == noOne:
		return EndLimit
	}
	// Lines to the right, down, and down on both diagonals, from their first square.
	switch b := s.board[s.winner]; b >> first(b) {
	case 0b1111, 1 | 1<<5 | 1<<10 | 1<<15, 1 | 1<<6 | 1<<12 | 1<<18, 1 | 1<<4 | 1<<8 | 1<<12:
		return EndLine
	}
	return EndSquare
}

// CanWin reports whether a seat could win with one move if it were that seat's turn.
func (s *State) CanWin(seat int) bool {
	own := s.board[seat]
	empty := everySquare &^ (s.board[0] | s.board[1])
	if count(own) < pieces {
		return count(own) == pieces-1 && s.completes(own, empty)
	}
	for left := own; left != 0; left &= left - 1 {
		piece := left & -left
		if s.completes(own&^piece, neighbours[first(piece)&31]&empty) {
			return true
		}
	}
	return false
}

// completes reports whether three pieces and a fourth can form a winning shape. three has the squares of the three
// pieces. squares has the squares to which the fourth piece can go.
func (s *State) completes(three, squares Board) bool {
	for ; squares != 0; squares &= squares - 1 {
		if s.rules.wins(three | squares&-squares) {
			return true
		}
	}
	return false
}
