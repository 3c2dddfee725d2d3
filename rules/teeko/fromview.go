package teeko

import (
	"strings"

	"github.com/timba-arena/timba/rules"
)

// fromView returns the position that a seat sees; see rules.Variant.FromView. Nothing is hidden in Teeko.
func fromView(r Rules, o rules.Observation, _ *rules.Rand) (rules.State, error) {
	s := &State{rules: r, lastPly: r.lastPly(), winner: noOne, ply: uint16(o.Ply)}
	reader := o.Reader(name, 2)
	s.readBoard(&reader)
	return reader.Finish(s)
}

// readBoard reads the pieces from v, which has what a seat may know, and derives the rest of the state. It stores an
// error in v if the board is impossible.
func (s *State) readBoard(v *rules.ViewReader) {
	board := v.Value("board")
	if len(board) != squares {
		v.Fail("board", "is not of 25 squares")
		return
	}
	for sq, letter := range board {
		if side := strings.IndexByte(letters, letter); side >= 0 {
			s.board[side] |= 1 << sq
		}
	}
	due := s.readTurn(v)
	for side, b := range s.board {
		if count(b) != (due+1-side)/2 {
			v.Fail("board", "does not have as many pieces of each side as are due by now")
		}
		if b != 0 && s.rules.wins(b) {
			v.Fail("board", "is won already")
		}
	}
	if s.ply >= s.lastPly {
		s.turn = rules.Over
	}
}

// readTurn derives from the number of moves and pieces which seat is to move, and whether the game began with random
// moves. It returns due, the number of pieces that must be on the board.
func (s *State) readTurn(v *rules.ViewReader) (due int) {
	on := count(s.board[black] | s.board[white])
	for _, plies := range [...]int{int(s.rules.Opening), 0} { // 0 if no good opening was found
		made := int(s.ply) + plies
		s.opening, s.turn = rules.OpeningOf(plies), int8(made%2)
		if due = 2 * pieces; s.rules.Drop {
			due = min(made, due)
		}
		if int(s.turn) == v.Turn && on == due {
			break
		}
	}
	return due
}
