package teeko

import (
	"math/bits"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
)

const (
	size    = 5
	squares = size * size
	pieces  = 4 // number of pieces of each side

	black = 0
	white = 1

	noOne = -1

	// moveBase is the number of the first move that moves a piece. Such a move has the number moveBase + from*squares
	// + to. A move that places a new piece has the number of the piece's square.
	moveBase = 32
	endMoves = moveBase + squares*squares
)

// Board is a set of squares, with bit i for square i.
type Board uint32

const everySquare Board = 1<<squares - 1

// neighbours has the neighbors of each square. It has 32 entries, so that an index sq&31 needs no bounds check.
var neighbours = func() (n [32]Board) {
	for a := range squares {
		for b := range squares {
			rows, columns := a/size-b/size, a%size-b%size
			if a != b && max(rows, -rows, columns, -columns) == 1 {
				n[a] |= 1 << b
			}
		}
	}
	return n
}()

// shapes returns the sets of four squares that win. There are 44 of them, or 58 if large is true and squares larger
// than 2x2 win too.
func shapes(large bool) (list []Board) {
	largest := 1
	if large {
		largest = size - 1
	}
	for row := range size {
		for column := range size {
			// Each step leads from a square of a line to the next.
			for _, step := range [][2]int{{0, 1}, {1, 0}, {1, 1}, {1, -1}} {
				endRow, endColumn := row+3*step[0], column+3*step[1]
				if endRow < size && endColumn >= 0 && endColumn < size {
					var line Board
					for i := range pieces {
						line |= 1 << ((row+i*step[0])*size + column + i*step[1])
					}
					list = append(list, line)
				}
			}
			for side := 1; side <= largest && row+side < size && column+side < size; side++ {
				corner := Board(1<<0 | 1<<side | 1<<(side*size) | 1<<(side*size+side))
				list = append(list, corner<<(row*size+column))
			}
		}
	}
	return list
}

// The winning shapes are in a hash table of 1<<slotBits slots without collisions: slotFactor was chosen so that
// each of the 58 shapes has its own slot, which a test checks. An empty slot is 0, which matches no pieces.
const (
	slotBits   = 8
	slotFactor = 0x55b2f2cb
)

type shapeTable [1 << slotBits]Board

var (
	standardShapes, advancedShapes = shapes(false), shapes(true)
	standard, advanced             = newShapeTable(standardShapes), newShapeTable(advancedShapes)
)

func newShapeTable(list []Board) (t shapeTable) {
	for _, shape := range list {
		t[slot(shape)] = shape
	}
	return t
}

func slot(b Board) uint8 { return uint8(b * slotFactor >> (32 - slotBits)) }

// wins reports whether the pieces b of one side stand on a winning set of four squares.
func (r Rules) wins(b Board) bool {
	if r.Advanced {
		return advanced[slot(b)] == b
	}
	return standard[slot(b)] == b
}

// State is a position of Teeko. A State can be copied by assignment, and States can be compared with ==.
type State struct {
	board   [2]Board // pieces of black and white
	ply     uint16
	lastPly uint16 // number of plies after which the game is a draw
	rules   Rules
	turn    int8
	winner  int8 // seat that has won, or noOne

	opening rules.Opening
}

// Deal sets s to the first position of a game with the rules r. Everything random is drawn from src.
func (s *State) Deal(r Rules, src *rules.Stream) {
	s.setUp(r, src)
	if r.Opening > 0 {
		s.lastPly = rules.MaxPlies
		*s = *rules.DrawOpening(s, int(r.Opening), src, startAfterOpening).(*State)
	}
}

// startAfterOpening makes first, the position after random moves, the first position of a game. It sets the number of
// moves to 0 and stores the opening o. It changes first in place.
func startAfterOpening(first rules.State, o rules.Opening) {
	s := first.(*State)
	s.ply, s.lastPly, s.opening = 0, s.rules.lastPly(), o
}

// setUp sets s to the position before any random first moves. If r says so, it draws the squares of the pieces from
// src.
func (s *State) setUp(r Rules, src *rules.Stream) {
	*s = State{rules: r, lastPly: r.lastPly(), winner: noOne}
	if r.Drop {
		return
	}
	for {
		var order [squares]uint8
		for i := range order {
			order[i] = uint8(i)
		}
		rules.Shuffle(src, order[:])
		s.board = [2]Board{boardOf(order[:pieces]), boardOf(order[pieces : 2*pieces])}
		if !r.wins(s.board[black]) && !r.wins(s.board[white]) {
			return
		}
	}
}

func boardOf(list []uint8) (b Board) {
	for _, sq := range list {
		b |= 1 << sq
	}
	return b
}

func (s *State) Turn() int { return int(s.turn) }

// Ply implements rules.State. It counts placements and moves.
func (s *State) Ply() int { return int(s.ply) }

// Legal implements rules.State. There is always a legal move: while pieces are placed, at most seven squares
// are occupied; after that, the four squares of a side and their neighbors are at least nine squares (a test
// counts all sets of four), and the eight pieces leave one of them empty.
func (s *State) Legal(dst []rules.Move) []rules.Move {
	if s.turn < 0 {
		return dst
	}
	empty := everySquare &^ (s.board[0] | s.board[1])
	if s.IsPlacing() {
		for ; empty != 0; empty &= empty - 1 {
			dst = append(dst, rules.Move(first(empty)))
		}
		return dst
	}
	for own := s.board[s.turn&1]; own != 0; own &= own - 1 {
		from := first(own)
		for to := neighbours[from&31] & empty; to != 0; to &= to - 1 {
			dst = append(dst, move(from, first(to)))
		}
	}
	return dst
}

func first(b Board) int { return bits.TrailingZeros32(uint32(b)) }

func move(from, to int) rules.Move { return rules.Move(moveBase + from*squares + to) }

// split returns the squares where a move starts and ends. The move must not place a new piece.
func split(m rules.Move) (from, to int) {
	return int(m-moveBase) / squares, int(m-moveBase) % squares
}

func (s *State) Check(m rules.Move) error {
	text := func() []byte { return s.MoveText(nil, m) } // made only for errors
	if s.turn < 0 {
		return phrase.Errorf("%q cannot be played: %w", text(), rules.ErrOver)
	}
	if m >= squares && m < moveBase || m >= endMoves {
		return phrase.Errorf("%q is not a move: write a square to place a piece (12) or two to move it (12-13)", text())
	}
	taken := s.board[0] | s.board[1]
	if s.IsPlacing() {
		switch {
		case m >= moveBase:
			return phrase.Errorf("%q moves a piece while pieces are placed: name one empty square, such as %d", text(), first(^taken))
		case taken>>m&1 != 0:
			err := phrase.Errorf("%q is taken: name an empty square, such as %d", text(), first(^taken))
			return rules.Refuse(err, rules.SquareTaken, "square", string(text()))
		}
		return nil
	}
	if m < moveBase {
		return phrase.Errorf("%q places a piece when all are placed: move one, such as %s", text(), s.example())
	}
	from, to := split(m)
	switch {
	case s.board[s.turn]>>from&1 == 0:
		err := phrase.Errorf("%q moves no piece of %s: try a move such as %s", text(), colours[s.turn], s.example())
		return rules.Refuse(err, rules.NoOwnPiece, "square", strconv.Itoa(int(from)))
	case neighbours[from]>>to&1 == 0:
		err := phrase.Errorf("%q does not end on a neighbour of %d: try a move such as %s", text(), from, s.example())
		return rules.Refuse(err, rules.TooFar, "square", strconv.Itoa(int(from)))
	case taken>>to&1 != 0:
		err := phrase.Errorf("%q ends on a square that is taken: try a move such as %s", text(), s.example())
		return rules.Refuse(err, rules.SquareTaken, "square", strconv.Itoa(int(to)))
	}
	return nil
}

var colours = [2]string{"black", "white"}

func (s *State) example() []byte {
	return s.MoveText(nil, slices.Min(s.Legal(nil)))
}

// Apply implements rules.State. It makes the move m, which must be legal, and logs its events. log may be nil.
func (s *State) Apply(m rules.Move, log *rules.Log) {
	if log != nil {
		s.logPlay(log, int(s.turn), m)
	}
	if m < moveBase {
		s.change(1 << m)
		return
	}
	from, to := split(m)
	s.change(1<<from | 1<<to)
}

// change makes a move of the side to move by inverting the squares in flip on that side's board: one square to place
// a piece, two to move one. Then it ends the game or passes the turn to the other side.
func (s *State) change(flip Board) {
	side := s.turn & 1
	s.board[side] ^= flip
	s.ply++
	s.turn = side ^ 1
	switch {
	case s.rules.wins(s.board[side]):
		s.winner = side
		s.turn = rules.Over
	case s.ply == s.lastPly:
		s.turn = rules.Over
	}
}

func count(b Board) int { return bits.OnesCount32(uint32(b)) }

func (s *State) Clone() rules.State {
	c := *s
	return &c
}

// Points implements rules.State. A win is worth 1 point, and a draw half a point for each seat.
func (s *State) Points() []float64 {
	points := make([]float64, 2)
	switch {
	case s.winner != noOne:
		points[s.winner] = 1
	case s.turn < 0:
		points[black], points[white] = 0.5, 0.5
	}
	return points
}
