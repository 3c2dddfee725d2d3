package house

import (
	"cmp"
	"slices"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/tebes"
)

// tebesEval evaluates positions of Tebes for one seat, in hundredths of a point.
type tebesEval struct {
	heuristic int // 1 (maps and pieces) or 2 (also threatened captures)
	seat      int
	weights   tebesWeights
	maps      tebesMaps
	top       int32 // the value lies between -top and top
}

const (
	hundredths = 100
	// fewestPieces is the number of pieces below which a side has lost.
	fewestPieces = 2
	// captureWays is the number of directions in which a piece can capture.
	captureWays = 5
)

func newTebesEval(heuristic, seat int, w tebesWeights, s *tebes.State) tebesEval {
	e := tebesEval{heuristic: heuristic, seat: seat, weights: w, maps: newTebesMaps(s, seat)}
	e.top = max(1, e.largestValue(int32(s.Rules().Size)*int32(s.Rules().Size)/2))
	return e
}

// largestValue returns a bound for the values of positions, in hundredths of a point, if each side begins with count
// pieces. No position has a higher value, or a lower value than the negative of the bound. It is the value that a side
// would have with all its pieces on the squares of the highest weights, against two pieces on squares without weight.
// In heuristic 2, each of its pieces can also capture in every direction.
func (e *tebesEval) largestValue(count int32) int32 {
	w := &e.weights
	place := max(largestSum(e.maps.bonus[0][:], w.bonus[:], count), largestSum(e.maps.penalty[:], w.penalty[:], count))
	ahead := count - fewestPieces
	if e.heuristic == 1 {
		return hundredths * (place + perPiece*ahead)
	}
	return hundredths*(w.c[0]*place+w.c[2]*captureWays*count) + w.c[1]*hundredths*ahead/(count+fewestPieces)
}

// largestSum chooses count different squares with the largest possible sum of weights, and returns this sum. A square
// in the set levels[i] has the weight weights[i]. The sets do not overlap, and squares in none of them cannot be
// chosen. If there are fewer than count squares, largestSum adds up the weights of all.
func largestSum(levels []tebes.Board, weights []int32, count int32) (sum int32) {
	var all []int32
	for level, squares := range levels {
		all = append(all, slices.Repeat([]int32{weights[level]}, int(countPieces(squares)))...)
	}
	slices.SortFunc(all, func(a, b int32) int { return cmp.Compare(b, a) })
	for _, w := range all[:min(len(all), int(count))] {
		sum += w
	}
	return sum
}

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

// Reward returns the result of a finished game for the given side, 0 or 1. A win is worth 1, a draw one half, and a
// loss 0.
func (t *tebesTree) Reward(side int) float64 {
	switch t.Winner() {
	case side:
		return 1
	case 1 - side:
		return 0
	}
	return 0.5
}

// Prior returns an estimate of the reward that side will have at the end, from 0 to 1. It is the value of the position
// by t.eval, scaled so that the lowest possible value becomes 0 and the highest 1. If the game is over, Prior returns
// the reward itself.
func (t *tebesTree) Prior(side int) float32 {
	if t.Turn() == rules.Over {
		return float32(t.Reward(side))
	}
	h := (float32(t.eval.value(&t.State)) + float32(t.eval.top)) / (2 * float32(t.eval.top))
	if side != t.eval.seat {
		return 1 - h
	}
	return h
}
