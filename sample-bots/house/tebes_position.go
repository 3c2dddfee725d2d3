package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/tebes"
)

// tebesEval estimates positions for one seat, in hundredths of a point.
type tebesEval struct {
	heuristic int // 1 or 2, as in the study
	seat      int
	weights   tebesWeights
	maps      tebesMaps
}

const hundredths = 100

// value returns the value of an undecided position for the seat.
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

// tebesPosition implements alphabeta.Position.
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

// Rank prefers moves into a corner, then captures, then moves far ahead.
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

// tebesTree is a state for package mcts.
type tebesTree struct {
	tebes.State
	eval *tebesEval
}

// HalfPoints returns twice the points of a side at the end of the game.
func (t *tebesTree) HalfPoints(side int) int {
	switch t.Winner() {
	case side:
		return 2
	case 1 - side:
		return 0
	}
	return 1
}

// priorScale is the value, in hundredths of a point, of a position whose prior is 3/4.
const priorScale = 40 * hundredths

// Prior scales the heuristic to a value from 0 to 1. For a finished game it is the result.
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
