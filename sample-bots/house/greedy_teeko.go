package house

import (
	"bytes"
	"math/bits"
	"strconv"

	"github.com/timba-arena/timba/protocol"
)

// teekoSize is the side of the board, a bit a square, row by row.
const teekoSize = 5

// teekoJudge wins if it can, does not let the other win at once if it can help
// it, and else counts the shapes that are still open.
type teekoJudge struct {
	squares    string // the option that shapes are for
	shapes     []uint32
	mine, your uint32
}

func (j *teekoJudge) read(t *protocol.Turn) bool {
	squares, _ := t.Game.Settings.Lookup("squares")
	if j.shapes == nil || string(squares) != j.squares {
		j.squares = string(squares)
		j.shapes = teekoShapes(j.squares == "advanced")
	}
	board, _ := t.View.Lookup("board")
	me, _ := t.View.Lookup("me")
	if len(board) != teekoSize*teekoSize || len(me) != 1 {
		return false
	}
	j.mine, j.your = 0, 0
	for sq, piece := range board {
		switch {
		case piece == me[0]:
			j.mine |= 1 << sq
		case piece != '.':
			j.your |= 1 << sq
		}
	}
	return true
}

// teekoShapes is every four squares that win: lines and squares, with the
// corners of larger squares when advanced.
func teekoShapes(advanced bool) (shapes []uint32) {
	add := func(row, col int, steps ...[2]int) {
		shape := uint32(0)
		for _, s := range steps {
			r, c := row+s[0], col+s[1]
			if r < 0 || r >= teekoSize || c < 0 || c >= teekoSize {
				return
			}
			shape |= 1 << (r*teekoSize + c)
		}
		shapes = append(shapes, shape)
	}
	largest := 1
	if advanced {
		largest = teekoSize - 1
	}
	for row := range teekoSize {
		for col := range teekoSize {
			for _, d := range [][2]int{{0, 1}, {1, 0}, {1, 1}, {1, -1}} {
				add(row, col, [2]int{}, d, [2]int{2 * d[0], 2 * d[1]}, [2]int{3 * d[0], 3 * d[1]})
			}
			for n := 1; n <= largest; n++ {
				add(row, col, [2]int{}, [2]int{0, n}, [2]int{n, 0}, [2]int{n, n})
			}
		}
	}
	return shapes
}

const (
	teekoWin  = 10_000
	teekoLoss = -1000 // the other wins next, unless it does not see how
)

func (j *teekoJudge) worth(move []byte) float64 {
	from, to, ok := squares(move, teekoSize*teekoSize)
	if !ok {
		return 0
	}
	mine := j.mine | 1<<to
	if from >= 0 {
		mine &^= 1 << from
	}
	if j.wins(mine) {
		return teekoWin
	}
	worth := float64(j.open(mine, j.your) - j.open(j.your, mine))
	if j.canWin(j.your, mine) {
		worth += teekoLoss
	}
	return worth
}

// squares reads 12 or 12-13, from being -1 for a placing.
func squares(move []byte, n int) (from, to int, ok bool) {
	a, b, moved := bytes.Cut(move, []byte{'-'})
	from = -1
	if moved {
		if from, ok = square(a, n); !ok {
			return from, 0, false
		}
		a = b
	}
	to, ok = square(a, n)
	return from, to, ok
}

func square(b []byte, n int) (int, bool) {
	sq, err := strconv.Atoi(string(b))
	return sq, err == nil && sq >= 0 && sq < n
}

func (j *teekoJudge) wins(pieces uint32) bool {
	for _, s := range j.shapes {
		if pieces&s == s {
			return true
		}
	}
	return false
}

// canWin tells whether a side wins with its next move or placing.
func (j *teekoJudge) canWin(side, other uint32) bool {
	for _, s := range j.shapes {
		missing := s &^ side
		if bits.OnesCount32(missing) != 1 || missing&other != 0 {
			continue
		}
		spare := side &^ s // the piece that must come to the missing square
		if spare == 0 {
			return true // it is placed there
		}
		if bits.OnesCount32(side) == 4 && neighbours(bits.TrailingZeros32(spare))&missing != 0 {
			return true
		}
	}
	return false
}

// neighbours is the squares one step away, in eight directions.
func neighbours(sq int) (set uint32) {
	row, col := sq/teekoSize, sq%teekoSize
	for r := max(0, row-1); r <= min(teekoSize-1, row+1); r++ {
		for c := max(0, col-1); c <= min(teekoSize-1, col+1); c++ {
			set |= 1 << (r*teekoSize + c)
		}
	}
	return set &^ (1 << sq)
}

// open adds up the shapes that a side may still make, more for each of its
// pieces in them.
func (j *teekoJudge) open(side, other uint32) (sum int) {
	for _, s := range j.shapes {
		if s&other == 0 {
			n := bits.OnesCount32(s & side)
			sum += n * n * n
		}
	}
	return sum
}
