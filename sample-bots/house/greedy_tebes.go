package house

import (
	"bytes"
	"math/bits"

	"github.com/timba-arena/timba/protocol"
)

// tebesJudge looks at each of its moves and at every answer to it: corners,
// pieces and how far they have come.
type tebesJudge struct {
	tebesBoard
	extra bool // this side's extra move is still to come
}

// tebesBoard is a board of up to 6x6, a bit a square, row by row from the top.
// Side 0 is white and moves up.
type tebesBoard struct {
	size   int
	black  uint64 // the black squares
	pieces [2]uint64
	me     int
}

func (j *tebesJudge) read(t *protocol.Turn) bool {
	j.size = t.View.Int("size")
	colours, _ := t.View.Lookup("colours")
	pieces, _ := t.View.Lookup("pieces")
	me, _ := t.View.Lookup("me")
	extra, _ := t.View.Lookup("extra")
	n := j.size * j.size
	if j.size < 2 || j.size > 8 || len(colours) != n || len(pieces) != n || len(me) != 1 {
		return false
	}
	j.black, j.pieces, j.me = 0, [2]uint64{}, bytes.IndexByte([]byte("wb"), me[0])
	for sq := range n {
		if colours[sq] == 'b' {
			j.black |= 1 << sq
		}
		if side := bytes.IndexByte([]byte("wb"), pieces[sq]); side >= 0 {
			j.pieces[side] |= 1 << sq
		}
	}
	j.extra = bytes.IndexByte(extra, me[0]) >= 0
	return j.me >= 0
}

// goals is the two corners that a side makes for.
func (b *tebesBoard) goals(side int) uint64 {
	top := uint64(1) | 1<<(b.size-1)
	if side == 0 {
		return top
	}
	return top << (b.size * (b.size - 1))
}

// play moves a piece and takes what is on its target.
func (b *tebesBoard) play(side, from, to int) {
	b.pieces[side] = b.pieces[side]&^(1<<from) | 1<<to
	b.pieces[1-side] &^= 1 << to
}

const (
	tebesWin    = 10_000.0
	tebesPiece  = 10.0
	tebesCorner = 25.0
	tebesStep   = 0.6
)

func (j *tebesJudge) worth(move []byte) float64 {
	from, to, ok := squares(move, j.size*j.size)
	if !ok || from < 0 {
		return 0
	}
	next := j.tebesBoard
	next.play(j.me, from, to)
	now := next.value(j.me)
	if now == tebesWin || (j.extra && next.goals(j.me)>>to&1 != 0) {
		return now + tebesCorner // in the second case this side moves again
	}
	if worst, found := next.worst(1 - j.me); found {
		// What is gained at once counts a little, or it is put off for ever.
		return worst + now/16
	}
	return tebesWin
}

// value is how a position stands for a side: tebesWin when it has won.
func (b *tebesBoard) value(side int) float64 {
	for _, s := range []int{side, 1 - side} {
		goals := b.goals(s)
		if b.pieces[s]&goals == goals || bits.OnesCount64(b.pieces[1-s]) < 2 {
			if s == side {
				return tebesWin
			}
			return -tebesWin
		}
	}
	return b.side(side) - b.side(1-side)
}

// side is what one side has: pieces, corners, and rows gone by.
func (b *tebesBoard) side(s int) float64 {
	sum := tebesPiece * float64(bits.OnesCount64(b.pieces[s]))
	if b.pieces[s]&b.goals(s) != 0 {
		sum += tebesCorner
	}
	for p := b.pieces[s]; p != 0; p &= p - 1 {
		row := bits.TrailingZeros64(p) / b.size
		if s == 0 {
			row = b.size - 1 - row
		}
		sum += tebesStep * float64(row)
	}
	return sum
}

// worst is how the position stands for the side that has just moved after the
// answer that is worst for it; false when there is no answer.
func (b *tebesBoard) worst(mover int) (worst float64, found bool) {
	for p := b.pieces[mover]; p != 0; p &= p - 1 {
		from := bits.TrailingZeros64(p)
		for targets := b.targets(mover, from); targets != 0; targets &= targets - 1 {
			next := *b
			next.play(mover, from, bits.TrailingZeros64(targets))
			if v := next.value(1 - mover); !found || v < worst {
				worst, found = v, true
			}
		}
	}
	return worst, found
}

// targets is where a piece may go, positions that must not come back left aside.
// From a square of its own colour it captures two squares away, from one of the
// other colour one square away.
func (b *tebesBoard) targets(side, from int) (set uint64) {
	up := 1
	if side == 0 {
		up = -1
	}
	ownColour := int(b.black>>from&1) == side
	row, col := from/b.size, from%b.size
	for _, d := range [][2]int{{up, 0}, {up, -1}, {up, 1}, {0, -1}, {0, 1}} {
		for n := 1; n <= 2; n++ {
			r, c := row+n*d[0], col+n*d[1]
			if r < 0 || r >= b.size || c < 0 || c >= b.size {
				break
			}
			to := r*b.size + c
			if b.pieces[side]>>to&1 != 0 {
				continue // its own: it may be passed
			}
			if b.pieces[1-side]>>to&1 == 0 {
				set |= 1 << to
				continue
			}
			if ownColour == (n == 2) {
				set |= 1 << to
			}
			break // the other's pieces are not passed
		}
	}
	return set
}
