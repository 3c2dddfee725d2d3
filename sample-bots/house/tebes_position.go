package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/tebes"
)

// tebesEval evaluates positions of Tebes for one seat, in hundredths of a point.
type tebesEval struct {
	heuristic int // 1 (maps and pieces) or 2 (also threatened captures)
	seat      int
	weights   tebesWeights
	maps      tebesMaps
}

const hundredths = 100

// value returns the value of s for the evaluated seat, in hundredths of a point. The game must not be over.
func (e *tebesEval) value(s *tebes.State) int32 {
	mine, theirs := s.Pieces(e.seat), s.Pieces(1-e.seat)
	place := e.maps.bonusSum(mine, &e.weights) - e.maps.penaltySum(theirs, &e.weights)
	have, has := countPieces(mine), countPieces(theirs)
	if e.heuristic == 1 {
		return hundredths * (place + perPiece*(have-has))
	}
	pieces := e.weights.c[1] * hundredths * (have - has) / (have + has)
	threats := int32(s.CaptureCount(e.seat) - s.CaptureCount(1-e.seat))
	return hundredths*(e.weights.c[0]*place+e.weights.c[2]*threats) + pieces
}

// tebesPosition is a position of Tebes in the form that package alphabeta searches.
type tebesPosition struct {
	state     tebes.State
	eval      tebesEval
	moveCount int
	undo      [128]tebes.Undo
}

func (p *tebesPosition) Turn() int                           { return p.state.Turn() }
func (p *tebesPosition) Legal(dst []rules.Move) []rules.Move { return p.state.Legal(dst) }
func (p *tebesPosition) Winner() int                         { return p.state.Winner() }
func (p *tebesPosition) Key() uint64                         { return p.state.Key() }

func (p *tebesPosition) Make(m rules.Move) {
	p.undo[p.moveCount] = p.state.Make(m)
	p.moveCount++
}

func (p *tebesPosition) Unmake() {
	p.moveCount--
	p.state.Unmake(p.undo[p.moveCount])
}

func (p *tebesPosition) Value() int32 {
	if v := p.eval.value(&p.state); p.state.Turn() == p.eval.seat {
		return v
	} else {
		return -v
	}
}

// Rank returns a number that says how early the search tries a move. It is highest for moves into a goal corner,
// then for captures, then for moves far ahead.
func (p *tebesPosition) Rank(m rules.Move) int32 {
	seat := p.state.Turn()
	from, to := p.state.MoveCells(m)
	end := tebes.Board(1) << to
	rank := int32(to>>3 - from>>3)
	if seat != tebesBlack {
		rank = -rank
	}
	rank *= 20
	if p.state.Pieces(1-seat)&end != 0 {
		rank += 300
	}
	if p.state.Goal(seat)&end != 0 {
		rank += 500
	}
	return rank
}

// tebesTree is a position of Tebes in the form that package mcts searches.
type tebesTree struct {
	tebes.State
	eval *tebesEval
}

// HalfPoints returns the result of a finished game for a side: 2 for a win, 1 for a draw, 0 for a loss.
func (t *tebesTree) HalfPoints(side int) int {
	switch t.Winner() {
	case side:
		return 2
	case 1 - side:
		return 0
	}
	return 1
}

// priorScale is the value of a position, in hundredths of a point, for which Prior returns 3/4.
const priorScale = 40 * hundredths

// Prior estimates the result for a side, from 0 for a loss to 1 for a win, by the value of the position. For a
// finished game it returns the result.
func (t *tebesTree) Prior(side int) float32 {
	if t.Turn() == rules.Over {
		return float32(t.HalfPoints(side)) / 2
	}
	v := float32(t.eval.value(&t.State)) / priorScale
	v = (1 + v/(1+max(v, -v))) / 2
	if side != t.eval.seat {
		v = 1 - v
	}
	return v
}
