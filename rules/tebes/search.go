package tebes

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
)

// The following types and methods are for searches.

// Undo has the data by which State.Unmake takes back a move.
type Undo struct {
	pieces       [2]Board
	past         step
	since        uint16
	turn, winner int8
	extra        uint8
	bonus        bool
}

// Make makes a legal move without logging it, and returns what Unmake needs to take the move back. Searches use Make
// and Unmake because these copy much less than Clone, which copies all past moves.
func (s *State) Make(m rules.Move) Undo {
	u := Undo{s.pieces, s.past[s.ply%maxPast], s.irreversiblePly, s.turn, s.winner, s.extra, s.bonus}
	s.Apply(m, nil)
	return u
}

// Unmake takes back the last move. u must be what Make returned for that move.
func (s *State) Unmake(u Undo) {
	s.ply--
	s.past[s.ply%maxPast] = u.past
	s.pieces, s.irreversiblePly, s.turn, s.winner, s.extra, s.bonus = u.pieces, u.since, u.turn, u.winner, u.extra, u.bonus
}

// limitHorizon is a number of moves. If fewer moves remain before the limit ends the game, Key depends on the number
// of moves made, because the value of the position then depends on it.
const limitHorizon = 64

// Key returns a hash of the state for the tables of searches. It depends on the pieces, the side to move, the
// remaining extra moves and, close to the limit, the number of moves made. It does not depend on earlier positions,
// nor on the colors of the squares, which do not change during a game.
func (s *State) Key() uint64 {
	rest := uint64(s.turn)&3 | uint64(s.extra)<<2
	if s.lastPly-s.ply < limitHorizon {
		rest |= uint64(s.lastPly-s.ply+1) << 4
	}
	hi, lo := bits.Mul64(uint64(s.pieces[white])^0xa0761d6478bd642f, uint64(s.pieces[black])^0xe7037ed1a0b428db)
	hi, lo = bits.Mul64(hi^lo^0x8ebc6af09c88c6e3, rest^0x589965cc75374cc3)
	return hi ^ lo
}

// Playout makes random legal moves to the end of the game. In each position all legal moves are equally likely to be
// chosen.
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

// pick returns the legal move with index n, which must be less than the number of legal moves. The argument from has
// the legal moves, t is from.tally(), and rows is sums(t.counts()).
func (s *State) pick(from *sources, t *tally, n int, rows uint64) step {
	cell, nth := t.find(n, rows)
	kind := nthKind[from.kinds(int(s.turn), cell)&(1<<10-1)][nth&15]
	return step{uint8(cell), uint8(cell + int(ends[s.turn&1][kind&15]))}
}
