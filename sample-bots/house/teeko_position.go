package house

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
)

// teekoPosition is an alphabeta.Position. A state is small, so that each move has its own.
type teekoPosition struct {
	states [128]teeko.State
	made   int
}

func (p *teekoPosition) now() *teeko.State { return &p.states[p.made&127] }

func (p *teekoPosition) Turn() int                           { return p.now().Turn() }
func (p *teekoPosition) Legal(dst []rules.Move) []rules.Move { return p.now().Legal(dst) }
func (p *teekoPosition) Winner() int                         { return p.now().Winner() }
func (p *teekoPosition) Key() uint64                         { return p.now().Key() }

func (p *teekoPosition) Make(m rules.Move) {
	before := p.now()
	p.made++
	*p.now() = *before
	p.now().Apply(m, nil)
}

func (p *teekoPosition) Unmake() { p.made-- }

// Value counts the shapes that each side can still complete, and the right to move.
func (p *teekoPosition) Value() int32 {
	s := p.now()
	turn := s.Turn()
	return int32(open(s, turn)-open(s, 1-turn)) * hundredths
}

// Rank prefers squares with own pieces around.
func (p *teekoPosition) Rank(m rules.Move) int32 {
	s := p.now()
	from, to := teeko.MoveSquares(m)
	own := s.Pieces(s.Turn()) &^ (1 << from)
	return 20 * int32(bits.OnesCount32(uint32(teeko.Neighbors(to)&own)))
}
