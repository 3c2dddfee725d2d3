package house

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
)

// teekoJudge wins if it can, else prevents an immediate win of the opponent if it can, else
// counts the shapes that are still open.
type teekoJudge struct {
	state *teeko.State
	seat  int
}

func (j *teekoJudge) read(s rules.State, seat int) { j.state, j.seat = s.(*teeko.State), seat }

const (
	teekoWin  = 10_000
	teekoLoss = -1000 // the opponent can win with its next move
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

// openShapeValue returns the sum over the shapes that a side can still complete, weighted by its pieces in
// them.
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
