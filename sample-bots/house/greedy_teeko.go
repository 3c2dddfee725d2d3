package house

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
)

// teekoJudge values moves of Teeko: moves that win come first, moves that let the opponent win at once come last.
// Otherwise it counts the winning shapes that each side can still complete.
type teekoJudge struct {
	state *teeko.State
	seat  int
}

func (j *teekoJudge) read(s rules.State, seat int) { j.state, j.seat = s.(*teeko.State), seat }

const (
	teekoWin  = 10_000
	teekoLoss = -1000 // added if the opponent can win with its next move
)

func (j *teekoJudge) worth(m rules.Move) float64 {
	next := *j.state
	next.Apply(m, nil)
	if next.HasWon(j.seat) {
		return teekoWin
	}
	worth := float64(openShapeValue(&next, j.seat) - openShapeValue(&next, 1-j.seat))
	if next.CanWin(1 - j.seat) {
		worth += teekoLoss
	}
	return worth
}

// openShapeValue returns how close seat is to a winning shape: the sum, over the winning shapes that contain
// no piece of the opponent, of the cube of the number of own pieces in the shape.
func openShapeValue(s *teeko.State, seat int) (sum int) {
	own, other := s.Pieces(seat), s.Pieces(1-seat)
	for _, shape := range s.Shapes() {
		if shape&other == 0 {
			n := bits.OnesCount32(uint32(shape & own))
			sum += n * n * n
		}
	}
	return sum
}
