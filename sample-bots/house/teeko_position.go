package house

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
)

// teekoPosition is a position of Teeko in the form that package alphabeta searches. Before each move it stores a
// copy of the state, because states are small.
type teekoPosition struct {
	states    [128]teeko.State
	moveCount int
}

func (p *teekoPosition) current() *teeko.State { return &p.states[p.moveCount&127] }

func (p *teekoPosition) Turn() int                           { return p.current().Turn() }
func (p *teekoPosition) Legal(dst []rules.Move) []rules.Move { return p.current().Legal(dst) }
func (p *teekoPosition) Winner() int                         { return p.current().Winner() }
func (p *teekoPosition) Key() uint64                         { return p.current().Key() }

func (p *teekoPosition) Make(m rules.Move) {
	before := p.current()
	p.moveCount++
	*p.current() = *before
	p.current().Apply(m, nil)
}

func (p *teekoPosition) Unmake() { p.moveCount-- }

// Value returns the value of the position for the side to move, in hundredths. It compares how close both sides are
// to the winning shapes that they can still complete.
func (p *teekoPosition) Value() int32 {
	s := p.current()
	turn := s.Turn()
	return int32(openShapeValue(s, turn)-openShapeValue(s, 1-turn)) * hundredths
}

// Rank returns a number that says how early the search tries a move. The more own pieces are next to the new
// square, the higher it is.
func (p *teekoPosition) Rank(m rules.Move) int32 {
	s := p.current()
	from, to := teeko.MoveSquares(m)
	own := s.Pieces(s.Turn()) &^ (1 << from)
	return 20 * int32(bits.OnesCount32(uint32(teeko.Neighbors(to)&own)))
}
