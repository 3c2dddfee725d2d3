package tebes

import (
	"bytes"
	"math/bits"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// fromView returns a position that agrees with what one seat knows; see rules.Variant.FromView. In Tebes a move must
// not bring back an earlier position, but the seat does not know these positions. fromView infers the forbidden moves
// from their absence in the list of legal moves; they stay forbidden later in the game.
func fromView(r Rules, o rules.Observation, _ *rules.Rand) (rules.State, error) {
	s := &State{rules: r, lastPly: r.lastPly(), ply: uint16(o.Ply), irreversiblePly: uint16(o.Ply)}
	reader := o.Reader(name, 2)
	s.readBoard(&reader)
	s.readTurn(&reader)
	if reader.Err() == nil && s.turn >= 0 && len(o.Moves) > 0 && !s.rules.Cycles {
		s.restorePast(o.Moves)
	}
	return reader.Finish(s)
}

// readBoard reads the colors of the squares and the pieces from v, which has what a seat may know. It stores an error
// in v if they are impossible.
func (s *State) readBoard(v *rules.ViewReader) {
	g := s.geometry()
	squares := int(s.rules.Size) * int(s.rules.Size)
	colours, pieces := v.Value("colours"), v.Value("pieces")
	if len(colours) != squares {
		v.Fail("colours", "is not of as many squares as the board has")
	}
	if len(pieces) != squares {
		v.Fail("pieces", "is not of as many squares as the board has")
	}
	if v.Err() != nil {
		return
	}
	for square := range squares {
		if colours[square] == letters[black] {
			s.black |= 1 << g.cell[square]
		}
		if side := strings.IndexByte(letters, pieces[square]); side >= 0 {
			s.pieces[side] |= 1 << g.cell[square]
		}
	}
	if !s.rules.Random && s.black != g.chequer || bits.OnesCount64(uint64(s.black)) != squares/2 {
		v.Fail("colours", "is not a board of this game")
	}
	for side, b := range s.pieces {
		if n := bits.OnesCount64(uint64(b)); n < 2 || n > squares/2 {
			v.Fail("pieces", "does not have 2 pieces of each side, or has more than at the start")
		}
		if b&g.goal[side] == g.goal[side] {
			v.Fail("pieces", "is won already")
		}
	}
}

// readTurn reads from v, which has what a seat may know, which seats can still get their extra move. From that it
// derives which seat is to move. It stores an error in v if the result contradicts the number of moves made.
func (s *State) readTurn(v *rules.ViewReader) {
	s.extra = uint8(v.Word("extra", extras[:]...))
	s.bonus = v.Word("bonus", "no", "yes") == 1
	had := uint16(2 - bits.OnesCount8(s.extra))
	for _, plies := range [...]uint16{uint16(s.rules.Opening), 0} { // 0 if no good opening was found
		s.opening = rules.OpeningOf(int(plies))
		if s.turn = int8((s.ply + plies - had) & 1); int(s.turn) == v.Turn && s.ply+plies >= had {
			break
		}
	}
	if int(s.ply)+s.opening.Plies() < int(had) || s.bonus && s.extra>>s.turn&1 != 0 {
		v.Fail("extra", "does not fit the moves made")
	}
	var from sources
	s.sources(&from)
	s.finish(from.any() != 0)
}

// restorePast makes illegal the moves that are missing in listed, the texts of the moves that the seat may make. Each
// of them would bring back an earlier position that the seat does not know. restorePast invents four past moves for
// each missing move, so that the position three moves ago is the one that the missing move would bring back. Of the
// positions in which it was the other side's turn, only this one has the present pieces of that side, because the
// other side's invented moves are between squares outside the board. Therefore no other position can come back.
func (s *State) restorePast(listed []byte) {
	var space [rules.MaxMoves]rules.Move
	var text [8]byte
	off := step{62, 63}
	for _, m := range s.Legal(space[:0]) {
		word, rest, _ := bytes.Cut(listed, []byte{' '})
		if bytes.Equal(word, s.MoveText(text[:0], m)) {
			listed = rest
			continue
		}
		move, _ := s.cells(m)
		if move.start>>3 != move.end>>3 {
			continue // the move cannot bring back a position, so the list is wrong
		}
		for i, past := range [...]step{off, move, off, move} {
			s.past[(s.irreversiblePly-1-uint16(i))%maxPast] = past
		}
		s.irreversiblePly -= 4
	}
}
