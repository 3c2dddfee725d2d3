package house

import (
	"math/bits"

	"github.com/timba-arena/timba/rules/tebes"
)

// The maps of M. Sales, 2015, for black on the standard board of 6x6, whose back row is at the
// top: a digit is the level of a square.
var (
	drawnBonus   = [...]string{"5....5", "......", "..6.6.", "6.3264", ".2.6.2", "133221"}
	drawnPenalty = [...]string{"133221", ".3...3", "...33."}
)

const (
	bonusLevels   = 6
	penaltyLevels = 3
	tebesBlack    = 1 // the seat that the maps are drawn for
)

// tebesMaps are the maps of one side on one board.
type tebesMaps struct {
	// bonus has the squares of each level for the side's own pieces: on the full map, and
	// without those around the left corner, the right corner, and both. A corner that is held
	// makes its surroundings worth nothing.
	bonus [4][bonusLevels]tebes.Board
	// penalty has the squares of each level for the opponent's pieces.
	penalty [penaltyLevels]tebes.Board
	corners [2]tebes.Board // the left and the right one to be held
}

// newTebesMaps returns the maps of a seat. On the standard board of 6x6 they are as drawn; what
// the levels 4 and 6 stand for is not explained, and other boards do without them.
func newTebesMaps(s *tebes.State, seat int) (m tebesMaps) {
	size := int(s.Rules().Size)
	if size == len(drawnBonus) && !s.Rules().Random {
		readMap(drawnBonus[:], m.bonus[0][:])
		readMap(drawnPenalty[:], m.penalty[:])
	} else {
		m.derive(s, seat, size)
	}
	for column := range size {
		for row := size / 2; row < size; row++ {
			if right := column >= size/2; row < size-1 || column > 0 && column < size-1 {
				m.corners[b2i(right)] |= squareAt(row, column) // the surroundings, for now
			}
		}
	}
	for held := 1; held < 4; held++ {
		var gone tebes.Board
		for corner := range 2 {
			if held>>corner&1 != 0 {
				gone |= m.corners[corner]
			}
		}
		for level, b := range m.bonus[0] {
			m.bonus[held][level] = b &^ gone
		}
	}
	m.corners = [2]tebes.Board{squareAt(size-1, 0), squareAt(size-1, size-1)}
	if seat != tebesBlack {
		m.flip(s)
	}
	return m
}

func squareAt(row, column int) tebes.Board { return 1 << (8*row + column) }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// readMap adds the squares of each level of a map.
func readMap(drawn []string, levels []tebes.Board) {
	for row, text := range drawn {
		for column := range len(text) {
			if text[column] != '.' {
				levels[text[column]-'1'] |= squareAt(row, column)
			}
		}
	}
}

// derive makes the maps from the colours of the squares: level 1 are the corners, level 2 the
// squares from which a corner can be captured, level 3 those from which one of level 2 can. The
// own corners are level 5.
func (m *tebesMaps) derive(s *tebes.State, seat, size int) {
	near, all := s.BlackSquares(), tebes.Board(0) // near: of the other colour, from which a piece captures at distance 1
	for row := range size {
		for column := range size {
			all |= squareAt(row, column)
		}
	}
	if seat == tebesBlack {
		near = all &^ near
	} else {
		near = s.Flip(near)
	}
	goal := squareAt(size-1, 0) | squareAt(size-1, size-1)
	home := squareAt(0, 0) | squareAt(0, size-1)
	one := attackers(goal, near, size, 1)
	m.bonus[0][0], m.bonus[0][1] = goal, one
	m.bonus[0][2] = attackers(one, near, size, 1) &^ (goal | one)
	m.bonus[0][4] = home &^ m.bonus[0][2]
	one = attackers(home, all&^near, size, -1) // the opponent goes up, and its colours are the others
	m.penalty[0], m.penalty[1] = home, one
	m.penalty[2] = attackers(one, all&^near, size, -1) &^ (home | one)
}

// attackers returns the squares from which a piece that goes down (1) or up (-1) can capture on
// one of some squares.
func attackers(targets, near tebes.Board, size, forward int) (from tebes.Board) {
	for row := range size {
		for column := range size {
			reach := 2
			if near&squareAt(row, column) != 0 {
				reach = 1
			}
			for _, step := range [...][2]int{{0, -1}, {0, 1}, {forward, -1}, {forward, 0}, {forward, 1}} {
				r, c := row+reach*step[0], column+reach*step[1]
				if r >= 0 && r < size && c >= 0 && c < size && targets&squareAt(r, c) != 0 {
					from |= squareAt(row, column)
				}
			}
		}
	}
	return from &^ targets
}

// flip makes the maps those of white.
func (m *tebesMaps) flip(s *tebes.State) {
	for held := range m.bonus {
		for level, b := range m.bonus[held] {
			m.bonus[held][level] = s.Flip(b)
		}
	}
	for level, b := range m.penalty {
		m.penalty[level] = s.Flip(b)
	}
	for i, b := range m.corners {
		m.corners[i] = s.Flip(b)
	}
}

// tebesWeights are the weights of the heuristics, in points.
type tebesWeights struct {
	bonus   [bonusLevels]int32
	penalty [penaltyLevels]int32
	c       [3]int32
}

// perPiece is what a piece is worth by heuristic 1 whatever its square.
const perPiece = 10

// bonusSum returns the sum of the bonus map over pieces.
func (m *tebesMaps) bonusSum(pieces tebes.Board, w *tebesWeights) (sum int32) {
	held := b2i(pieces&m.corners[0] != 0) | b2i(pieces&m.corners[1] != 0)<<1
	for level, b := range &m.bonus[held] {
		sum += w.bonus[level] * countPieces(pieces&b)
	}
	return sum
}

// penaltySum returns the sum of the penalty map over the opponent's pieces.
func (m *tebesMaps) penaltySum(pieces tebes.Board, w *tebesWeights) (sum int32) {
	for level, b := range &m.penalty {
		sum += w.penalty[level] * countPieces(pieces&b)
	}
	return sum
}

func countPieces(b tebes.Board) int32 { return int32(bits.OnesCount64(uint64(b))) }
