package tebes

import (
	"math/bits"
	"strconv"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
)

// maxPast is the number of past moves that a state stores to detect repeated positions. It must be a power of two. No
// game with a limit is longer than maxPast moves.
const maxPast = 1024

const draw = -1

// State is a position of Tebes. A State can be copied by assignment, and States can be compared with ==.
type State struct {
	pieces          [2]Board // by seat
	black           Board    // the black squares
	rules           Rules
	ply             uint16
	lastPly         uint16 // number of plies after which the game is a draw
	irreversiblePly uint16 // number of plies made up to the last move that cannot be reversed
	turn            int8
	winner          int8  // seat, or -1 for a draw; only valid when the game is over
	extra           uint8 // bit 1<<seat is set if the seat still has its extra move
	bonus           bool  // the next move is an extra move

	opening rules.Opening

	// past has the move of each ply at index ply%maxPast. Moves forward, captures, and arrivals at a corner
	// that bring the extra move are irreversible. Only positions since the last irreversible move can come
	// back, and all moves since then are sideways.
	past [maxPast]step
}

// step is a move, as the bit indexes in a Board of the squares where it starts and ends.
type step struct{ start, end uint8 }

// Deal sets s to the first position of a game with the rules r. Everything random is drawn from src.
func (s *State) Deal(r Rules, src *rules.Stream) {
	s.setUp(r, src)
	if r.Opening > 0 {
		s.lastPly = rules.MaxPlies
		*s = *rules.DrawOpening(s, int(r.Opening), src, startAfterOpening).(*State)
	}
}

// startAfterOpening makes first, the position after random moves, the first position of a game. It sets the number of
// moves to 0, deletes the past moves and stores the opening o. It changes first in place.
func startAfterOpening(first rules.State, o rules.Opening) {
	s := first.(*State)
	s.ply, s.irreversiblePly, s.past = 0, 0, [maxPast]step{}
	s.lastPly, s.opening = s.rules.lastPly(), o
}

// setUp sets s to the position before any random first moves. If r says so, it draws the colors of the squares from
// src.
func (s *State) setUp(r Rules, src *rules.Stream) {
	g := &geometries[r.Size&7]
	*s = State{pieces: g.start, black: g.chequer, rules: r, lastPly: r.lastPly(), extra: 1<<white | 1<<black}
	if !r.Random {
		return
	}
	var order [maxSquares]uint8
	n := int(r.Size) * int(r.Size)
	for i := range order[:n] {
		order[i] = uint8(i)
	}
	rules.Shuffle(src, order[:n])
	s.black = 0
	for _, square := range order[:n/2] {
		s.black |= 1 << g.cell[square]
	}
	var from sources
	if s.sources(&from); from.any() == 0 {
		s.endGame(black) // on a few boards white has no first move
	}
}

func (s *State) geometry() *geometry { return &geometries[s.rules.Size&7] }

func (s *State) Turn() int { return int(s.turn) }

func (s *State) Ply() int { return int(s.ply) }

// sources finds the legal moves of the side to move and stores them in *from.
func (s *State) sources(from *sources) {
	all := s.geometry().all
	mine, theirs, near := s.pieces[black], s.pieces[white], all&^s.black
	if s.turn == white {
		mine, theirs, near, all = theirs.flip(), mine.flip(), s.black.flip(), all.flip()
	}
	from.find(mine, theirs, all&^(mine|theirs), near)
	if s.ply-s.irreversiblePly >= 3 && !s.rules.Cycles {
		s.forbid(from)
	}
}

// forbid removes from *from, the legal moves, each move that would bring back an earlier position. It goes back
// through the moves since the last irreversible one and maintains the set of squares of each side that differ from
// the present. An earlier position comes back by a move if three things hold: it was then the opponent's turn, the
// opponent's pieces stood as now, and only the moving piece stood elsewhere, on the square where the move ends.
func (s *State) forbid(from *sources) {
	var mine, theirs Board
	for back := uint16(1); back <= min(s.ply-s.irreversiblePly, maxPast); back++ {
		move := s.past[(s.ply-back)%maxPast]
		moved := Board(1)<<(move.start&63) ^ Board(1)<<(move.end&63)
		if back&1 == 0 {
			mine ^= moved
			continue
		}
		if theirs ^= moved; theirs == 0 && bits.OnesCount64(uint64(mine)) == 2 {
			start := mine & s.pieces[s.turn&1]
			// A move that brings the extra move leads to a new position.
			if end := mine ^ start; end&s.geometry().goal[s.turn&1] == 0 || s.extra>>(s.turn&1)&1 == 0 {
				from.remove(int(s.turn), start, end)
			}
		}
	}
}

// remove deletes from s a sideways move of the given side. The arguments from and to are the squares where the move
// starts and ends, each as a set of one square on the unflipped board. If the move is not sideways, remove does
// nothing.
func (s *sources) remove(side int, from, to Board) {
	if side == white {
		from, to = from.flip(), to.flip()
	}
	switch to {
	case from >> 2:
		s[0] &^= from
	case from >> 1:
		s[1] &^= from
	case from << 1:
		s[2] &^= from
	case from << 2:
		s[3] &^= from
	}
}

func (s *State) Legal(dst []rules.Move) []rules.Move {
	if s.turn == rules.Over {
		return dst
	}
	g := s.geometry()
	var from sources
	s.sources(&from)
	any := from.any()
	if s.turn == white {
		any = any.flip()
	}
	for ; any != 0; any &= any - 1 {
		cell := bits.TrailingZeros64(uint64(any))
		base := rules.Move(g.squareOf[cell]) * maxSquares
		for kinds := from.kinds(int(s.turn), cell); kinds != 0; kinds &= kinds - 1 {
			end := cell + int(ends[s.turn&1][bits.TrailingZeros(kinds)&15])
			dst = append(dst, base+rules.Move(g.squareOf[end&63]))
		}
	}
	return dst
}

// cells returns the squares where m starts and ends, as bit indexes in a Board. ok is false if one of them is not on
// the board.
func (s *State) cells(m rules.Move) (move step, ok bool) {
	n := rules.Move(s.rules.Size) * rules.Move(s.rules.Size)
	from, to := m/maxSquares, m%maxSquares
	if from >= n || to >= n {
		return step{}, false
	}
	g := s.geometry()
	return step{g.cell[from], g.cell[to]}, true
}

func (s *State) Check(m rules.Move) error {
	if s.turn == rules.Over {
		return phrase.Errorf("%q cannot be played: %w", s.MoveText(nil, m), rules.ErrOver)
	}
	move, ok := s.cells(m)
	if !ok {
		return phrase.Errorf("%q is not on the board: its squares are 0 to %d", s.MoveText(nil, m), int(s.rules.Size)*int(s.rules.Size)-1)
	}
	var from sources
	s.sources(&from)
	kinds := from.kinds(int(s.turn), int(move.start))
	for ; kinds != 0; kinds &= kinds - 1 {
		if int(move.start)+int(ends[s.turn&1][bits.TrailingZeros(kinds)&15]) == int(move.end) {
			return nil
		}
	}
	why, code, square := s.illegalReason(move)
	return rules.Refuse(phrase.Errorf("%q is not legal: %s", s.MoveText(nil, m), why), code, "square", strconv.Itoa(int(square)))
}

// Apply implements rules.State. It makes the move m, which must be legal, and logs its events. log may be nil.
func (s *State) Apply(m rules.Move, log *rules.Log) {
	move, ok := s.cells(m)
	if !ok || s.turn == rules.Over {
		return // not legal
	}
	seat := int(s.turn)
	captured := s.move(move)
	if s.turn != rules.Over {
		var from sources
		s.sources(&from)
		s.finish(from.any() != 0)
	}
	if log != nil { // without an extra move if the game has ended
		logMove(log, seat, m, captured, s.bonus)
	}
}

// move makes a move without checking it, and reports whether it captures a piece. It ends the game if the side has
// won by corners or by pieces. Otherwise it sets which side moves next, and whether the next move is an extra move.
func (s *State) move(m step) (captured bool) {
	me := s.turn & 1
	from, to := Board(1)<<(m.start&63), Board(1)<<(m.end&63)
	captured = s.pieces[1-me]&to != 0
	s.pieces[me] ^= from | to
	s.pieces[1-me] &^= to
	s.past[s.ply%maxPast] = m
	s.ply++
	if captured || m.start>>3 != m.end>>3 {
		s.irreversiblePly = s.ply
	}
	s.bonus = false
	s.turn = 1 - me
	goal, theirs := s.geometry().goal[me], s.pieces[1-me]
	switch {
	case s.pieces[me]&goal == goal, theirs&(theirs-1) == 0:
		s.endGame(me)
	case to&goal != 0 && s.extra>>me&1 != 0:
		s.extra &^= 1 << me
		s.bonus = true
		s.turn = me
		s.irreversiblePly = s.ply
	}
	return captured
}

// finish ends the game if the limit is reached or if moves is false, which means that the side to move has no legal
// move and loses.
func (s *State) finish(moves bool) {
	if !moves {
		s.endGame(1 - s.turn)
	} else if s.ply >= s.lastPly {
		s.endGame(draw)
	}
}

func (s *State) endGame(winner int8) {
	s.winner = winner
	s.turn = rules.Over
	s.bonus = false
}

// Points implements rules.State. A win is worth 1 point, and a draw half a point for each seat.
func (s *State) Points() []float64 {
	switch {
	case s.turn != rules.Over:
		return []float64{0, 0}
	case s.winner == draw:
		return []float64{0.5, 0.5}
	case s.winner == white:
		return []float64{1, 0}
	}
	return []float64{0, 1}
}

func (s *State) Clone() rules.State {
	c := *s
	return &c
}
