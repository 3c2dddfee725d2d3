package teeko

// Accessors for bots.

// Pieces returns where the pieces of a seat stand.
func (s *State) Pieces(seat int) Board { return s.board[seat] }

// Shapes returns the shapes that win. It must not be written to.
func (s *State) Shapes() []Board {
	if s.rules.Advanced {
		return advancedShapes
	}
	return standardShapes
}

// Won reports whether the pieces of a seat are a winning shape.
func (s *State) Won(seat int) bool { return int(s.winner) == seat }

// CanWin reports whether a seat would win with a move if it were to move.
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

// completes reports whether a piece on one of some squares makes three a winning
// shape.
func (s *State) completes(three, squares Board) bool {
	for ; squares != 0; squares &= squares - 1 {
		if s.rules.wins(three | squares&-squares) {
			return true
		}
	}
	return false
}
