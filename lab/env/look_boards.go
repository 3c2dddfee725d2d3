package env

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/tebes"
	"github.com/timba-arena/timba/referee/rules/teeko"
)

// boardShape returns the planes of a board: the squares in their order, absolute for both seats.
func boardShape(squares int, names ...string) (s shape) {
	for _, name := range names {
		s.planes = append(s.planes, Plane{name, squares})
	}
	return s
}

// putRow writes the lowest n bits as bytes and returns the rest.
func putRow(planes []uint8, row uint64, n int) []uint8 {
	clear(planes[:n])
	for ; row != 0; row &= row - 1 {
		planes[bits.TrailingZeros64(row)] = 1
	}
	return planes[n:]
}

func tebesShape(r tebes.Rules) shape {
	size := int(r.Size)
	s := boardShape(size*size, "own", "other", "black")
	s.numbers = []string{"seat", "extra+0", "extra+1", "bonus"}
	s.widest, s.last, s.bytes = rules.MaxMoves, fmt.Sprintf("%d-%d", size*size-1, size*size-1), int(unsafe.Sizeof(tebes.State{}))
	return s
}

func lookTebes(s *tebes.State, seat int, planes []uint8, numbers []int16) {
	size := int(s.Rules().Size)
	for _, board := range [...]tebes.Board{s.Pieces(seat), s.Pieces(1 - seat), s.Black()} {
		for row := range size {
			planes = putRow(planes, uint64(board>>(8*row))&(1<<size-1), size)
		}
	}
	numbers[0], numbers[1] = int16(seat), flag(s.HasExtra(seat))
	numbers[2], numbers[3] = flag(s.HasExtra(1-seat)), flag(s.Bonus())
}

func tebesPoints(s *tebes.State, dst []float32) { duelPoints(s.Turn(), s.Winner(), dst) }

func teekoShape() shape {
	s := boardShape(teekoSquares, "own", "other")
	s.numbers = []string{"seat", "placing"}
	// Four pieces with eight neighbours each are more than the squares that may be placed on.
	s.widest, s.last, s.bytes = 4*8, fmt.Sprintf("%d-%d", teekoSquares-1, teekoSquares-1), int(unsafe.Sizeof(teeko.State{}))
	return s
}

const teekoSquares = 25

func lookTeeko(s *teeko.State, seat int, planes []uint8, numbers []int16) {
	planes = putRow(planes, uint64(s.Pieces(seat)), teekoSquares)
	putRow(planes, uint64(s.Pieces(1-seat)), teekoSquares)
	numbers[0], numbers[1] = int16(seat), flag(s.Placing())
}

func teekoPoints(s *teeko.State, dst []float32) { duelPoints(s.Turn(), s.Winner(), dst) }

// duelPoints sets 1 for the winner, halves for a draw, 0 before the end.
func duelPoints(turn, winner int, dst []float32) {
	for seat := range dst {
		switch {
		case turn != rules.Over:
			dst[seat] = 0
		case winner < 0:
			dst[seat] = 0.5
		case winner == seat:
			dst[seat] = 1
		default:
			dst[seat] = 0
		}
	}
}
