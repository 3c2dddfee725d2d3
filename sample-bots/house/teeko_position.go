package house

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
)

// teekoPosition is a position of Teeko that the alpha-beta search can search. It stores a copy of the state
// before each move, because states are small.
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

// Value returns the value of the position for the side to move, in hundredths. It is the difference between
// how close each side is to the winning shapes that it can still complete.
func (p *teekoPosition) Value() int32 {
	s := p.current()
	turn := s.Turn()
	return int32(openShapeValue(s, turn)-openShapeValue(s, 1-turn)) * hundredths
}

// Rank returns a number by which the search orders the moves: the more own pieces are next to the new square,
// the higher.
func (p *teekoPosition) Rank(m rules.Move) int32 {
	s := p.current()
	from, to := teeko.MoveSquares(m)
	own := s.Pieces(s.Turn()) &^ (1 << from)
	return 20 * int32(bits.OnesCount32(uint32(teeko.Neighbors(to)&own)))
}
