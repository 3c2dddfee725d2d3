package house

import (
	"math/bits"

	"github.com/timba-arena/timba/rules/tebes"
)

// The maps say how valuable each square of the standard board of 6x6 is for black, whose back row is at the top.
// They are those of S. Sales, "Tebes", 2015. A digit is the level of a square, for which tebesWeights has the
// weight. A dot means no value.
var (
	drawnBonus   = [...]string{"5....5", "......", "..6.6.", "6.3264", ".2.6.2", "133221"}
	drawnPenalty = [...]string{"133221", ".3...3", "...33."}
)

const (
	bonusLevels   = 6
	penaltyLevels = 3
	tebesBlack    = 1 // the seat for which the maps are drawn
)

// tebesMaps says, for one side on one board of Tebes, which squares have a bonus for own pieces or a penalty for
// opposing ones. Each square has a level, which selects its weight in tebesWeights.
type tebesMaps struct {
	// bonus has the set of squares of each level. The first index says which goal corners the side already holds: 1
	// for the left one plus 2 for the right one. Once it holds a corner, the squares around that corner have no
	// bonus.
	bonus [4][bonusLevels]tebes.Board
	// penalty has, for each level, the set of squares on which a piece of the opponent counts against the side.
	penalty [penaltyLevels]tebes.Board
	corners [2]tebes.Board // the left and the right corner of the opponent, which the side wants to hold
}

// newTebesMaps returns the maps of the given seat for the board of s. For the standard board of 6x6 they are the
// published maps. For other boards they are derived from the colors of the squares, without the bonus levels 4 and
// 6, which the study (S. Sales, 2015) does not explain.
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
				m.corners[b2i(right)] |= squareAt(row, column) // temporarily, the squares around the corner
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

// readMap parses drawn, a map with one character for each square, row by row. It adds each square with a digit to
// the set of the level that the digit names. levels[0] is level 1.
func readMap(drawn []string, levels []tebes.Board) {
	for row, text := range drawn {
		for column := range len(text) {
			if text[column] != '.' {
				levels[text[column]-'1'] |= squareAt(row, column)
			}
		}
	}
}

// derive sets the maps of a board of size rows from the colors of its squares, drawn as for black. Each
// bonus level has the squares named here, and each penalty level the same squares for the opponent:
//
//   - level 1: the opponent's corners
//   - level 2: squares from which a piece can capture on one of these corners
//   - level 3: squares from which a piece can capture on a square of level 2
//   - level 5, a bonus only: the own corners of the side
func (m *tebesMaps) derive(s *tebes.State, seat, size int) {
	near, all := s.BlackSquares(), tebes.Board(0) // near: squares of the color from which a piece captures at distance 1
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
	one = attackers(home, all&^near, size, -1) // the opponent moves up, and captures at distance 1 from the other color
	m.penalty[0], m.penalty[1] = home, one
	m.penalty[2] = attackers(one, all&^near, size, -1) &^ (home | one)
}

// attackers returns the squares outside targets from which a piece can capture on one of the targets. A capture
// from a square of near goes one square far, from other squares two. The board has size rows and columns. forward
// is 1 if pieces move down the board, and -1 if they move up.
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

// tebesWeights has the weights, in points, for the evaluation of positions of Tebes. They are the weights of the
// bonus levels and the penalty levels of squares, and the factors of heuristic 2 for squares, pieces and threatened
// captures.
type tebesWeights struct {
	bonus   [bonusLevels]int32
	penalty [penaltyLevels]int32
	c       [3]int32
}

// perPiece is the value of each piece in heuristic 1 of Tebes, in points, in addition to that of its square.
const perPiece = 10

// bonusSum returns the sum of the bonuses of the squares on which the side has pieces, in points.
func (m *tebesMaps) bonusSum(pieces tebes.Board, w *tebesWeights) (sum int32) {
	held := b2i(pieces&m.corners[0] != 0) | b2i(pieces&m.corners[1] != 0)<<1
	for level, b := range &m.bonus[held] {
		sum += w.bonus[level] * countPieces(pieces&b)
	}
	return sum
}

// penaltySum returns the sum of the penalties of the squares on which the opponent has pieces, in points.
func (m *tebesMaps) penaltySum(pieces tebes.Board, w *tebesWeights) (sum int32) {
	for level, b := range &m.penalty {
		sum += w.penalty[level] * countPieces(pieces&b)
	}
	return sum
}

func countPieces(b tebes.Board) int32 { return int32(bits.OnesCount64(uint64(b))) }
