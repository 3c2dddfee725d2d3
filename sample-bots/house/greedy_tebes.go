package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/tebes"
)

// tebesJudge values moves of Tebes. It looks at each move and every reply to it, and counts corners, pieces, and
// how far the pieces have advanced.
type tebesJudge struct {
	state *tebes.State
	seat  int
	legal []rules.Move // replies to a move
}

func (j *tebesJudge) read(s rules.State, seat int) { j.state, j.seat = s.(*tebes.State), seat }

const (
	tebesWin    = 10_000.0
	tebesPiece  = 10.0
	tebesCorner = 25.0
	tebesStep   = 0.6
)

func (j *tebesJudge) worth(m rules.Move) float64 {
	next := *j.state
	next.Apply(m, nil)
	now := j.value(&next)
	if now == tebesWin || next.Turn() == j.seat {
		return now + tebesCorner // in the second case this side moves again
	}
	worst := now
	j.legal = next.Legal(j.legal[:0])
	for i, answer := range j.legal {
		after := next
		after.Apply(answer, nil)
		if v := j.value(&after); i == 0 || v < worst {
			worst = v
		}
	}
	// An immediate gain counts a little more. Otherwise the judge could postpone it forever.
	return worst + now/16
}

// value returns the value of s for the judge's seat. If a side has won, it is tebesWin or -tebesWin.
func (j *tebesJudge) value(s *tebes.State) float64 {
	switch s.Winner() {
	case j.seat:
		return tebesWin
	case 1 - j.seat:
		return -tebesWin
	}
	return sideValue(s, j.seat) - sideValue(s, 1-j.seat)
}

// sideValue returns the value of the pieces of the given seat. It depends on their number and the rows by which
// they have advanced, with a bonus if a piece stands on a goal corner.
func sideValue(s *tebes.State, seat int) float64 {
	sum := tebesPiece * float64(s.PieceCount(seat))
	if s.CornerCount(seat) > 0 {
		sum += tebesCorner
	}
	last := int(s.Rules().Size) - 1
	for row := range last + 1 {
		gone := row
		if seat == 0 {
			gone = last - row
		}
		for range s.RowCount(seat, row) {
			sum += tebesStep * float64(gone)
		}
	}
	return sum
}
