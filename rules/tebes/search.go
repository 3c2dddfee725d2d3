package tebes

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
)

// What searches need: moves that are taken back, and keys of positions.

// Undo is what Unmake needs to take a move back.
type Undo struct {
	pieces       [2]Board
	past         step
	since        uint16
	turn, winner int8
	extra        uint8
	bonus        bool
}

// Make makes a legal move as Apply does. A copy of a state has all its past moves; a
// search that takes moves back copies next to nothing.
func (s *State) Make(m rules.Move) Undo {
	u := Undo{s.pieces, s.past[s.ply%maxPast], s.irreversiblePly, s.turn, s.winner, s.extra, s.bonus}
	s.Apply(m, nil)
	return u
}

// Unmake takes back the last move, which Make has made.
func (s *State) Unmake(u Undo) {
	s.ply--
	s.past[s.ply%maxPast] = u.past
	s.pieces, s.irreversiblePly, s.turn, s.winner, s.extra, s.bonus = u.pieces, u.since, u.turn, u.winner, u.extra, u.bonus
}

// limitHorizon is how many plies before the limit a position is another one at each ply.
const limitHorizon = 64

// Key returns a hash of what decides the rest of the game: pieces, side to move, extra moves
// still to come and, close to the limit, the ply. It leaves out the colours of the squares,
// which a game does not change, and earlier positions.
func (s *State) Key() uint64 {
	rest := uint64(s.turn)&3 | uint64(s.extra)<<2
	if s.last-s.ply < limitHorizon {
		rest |= uint64(s.last-s.ply+1) << 4
	}
	hi, lo := bits.Mul64(uint64(s.pieces[white])^0xa0761d6478bd642f, uint64(s.pieces[black])^0xe7037ed1a0b428db)
	hi, lo = bits.Mul64(hi^lo^0x8ebc6af09c88c6e3, rest^0x589965cc75374cc3)
	return hi ^ lo
}

// Playout makes random legal moves to the end.
func (s *State) Playout(r *rules.Rand) {
	if s.turn == rules.Over {
		return
	}
	rand := *r
	var from sources
	for {
		s.sources(&from)
		t := from.tally()
		if s.turn == white {
			t.flip()
		}
		rows := sums(t.counts())
		moves := int(rows >> 56)
		if s.finish(moves > 0); s.turn == rules.Over {
			break
		}
		s.move(s.pick(&from, &t, rand.Below(moves), rows))
		if s.turn == rules.Over {
			break
		}
	}
	*r = rand
}

// pick returns move n of the legal moves in their order.
func (s *State) pick(from *sources, t *tally, n int, rows uint64) step {
	cell, nth := t.find(n, rows)
	kind := nthKind[from.kinds(int(s.turn), cell)&(1<<10-1)][nth&15]
	return step{uint8(cell), uint8(cell + int(ends[s.turn&1][kind&15]))}
}
