package tebes

import "math/bits"

// Board is a set of squares. The square in row r and column c, counted from 0 at the top left, is bit 8r + c,
// whatever the size of the board; comments call this number the cell of the square. The columns outside the board
// are always empty, so that a step over the edge ends there.
type Board uint64

const (
	white = 0
	black = 1

	maxSize    = 6
	maxSquares = maxSize * maxSize
	flipCell   = 7 << 3 // cell^flipCell is the cell in the flipped board
)

// geometry has the data that depend only on the size of the board. A square has two numbers: its cell is a bit index
// in a Board; its square number counts the squares row by row, without gaps.
type geometry struct {
	all      Board
	start    [2]Board          // by seat: the squares of its pieces at the start
	goal     [2]Board          // by seat: the corners of the opponent's back row
	chequer  Board             // black squares of the standard board
	cell     [maxSquares]uint8 // cells by square number
	squareOf [64]uint8         // square numbers by cell
}

// geometries has the geometry of each board, by its size: 4 or 6.
var geometries = [8]geometry{4: newGeometry(4), maxSize: newGeometry(maxSize)}

func newGeometry(size int) (g geometry) {
	for square := range size * size {
		row, column := square/size, square%size
		cell := row*8 + column
		g.cell[square], g.squareOf[cell] = uint8(cell), uint8(square)
		g.all |= 1 << cell
		if (row+column)%2 == 0 {
			g.chequer |= 1 << cell
		}
		if row < size/2 {
			g.start[black] |= 1 << cell
		} else {
			g.start[white] |= 1 << cell
		}
		if column == 0 || column == size-1 {
			switch row {
			case 0:
				g.goal[white] |= 1 << cell
			case size - 1:
				g.goal[black] |= 1 << cell
			}
		}
	}
	return g
}

// flip turns a board of 8 rows upside down: row r becomes row 7-r.
func (b Board) flip() Board { return Board(bits.ReverseBytes64(uint64(b))) }

// sources has one board for each of ten kinds of move. The board has the squares from which a piece of the side to
// move can make a move of this kind. The list shows the index of each kind, with the direction in which a black
// piece moves; black moves down. If white is to move, all boards are upside down (see Board.flip).
//
//	0 1 2 3  two left, one left, one right, two right
//	4 5 6    one down left, down, down right
//	7 8 9    two down left, down, down right
type sources [10]Board

// ends has, for each side, the distances of its moves in increasing order. A distance is the cell where a move ends
// minus the cell where it starts. White's longest moves forward therefore come first.
var ends = [2][16]int8{
	black: {-2, -1, 1, 2, 7, 8, 9, 14, 16, 18},
	white: {-18, -16, -14, -9, -8, -7, -2, -1, 1, 2},
}

// find sets s to the possible moves of the side to move, whose pieces move down the board. mine, theirs and empty are
// the squares with its pieces, with the opponent's pieces, and with no piece. A piece on a square in near captures at
// a distance of one square, any other piece at a distance of two.
func (s *sources) find(mine, theirs, empty, near Board) {
	free, open := mine&^near, ^theirs // free: capture two squares away
	near &= mine
	// A piece moves one square if that is empty or can be captured from near. It moves two squares if no
	// opponent's piece is on the first.
	s[0] = open << 1 & (mine&(empty<<2) | free&(theirs<<2))
	s[1] = mine&(empty<<1) | near&(theirs<<1)
	s[2] = mine&(empty>>1) | near&(theirs>>1)
	s[3] = open >> 1 & (mine&(empty>>2) | free&(theirs>>2))
	s[4] = mine&(empty>>7) | near&(theirs>>7)
	s[5] = mine&(empty>>8) | near&(theirs>>8)
	s[6] = mine&(empty>>9) | near&(theirs>>9)
	s[7] = open >> 7 & (mine&(empty>>14) | free&(theirs>>14))
	s[8] = open >> 8 & (mine&(empty>>16) | free&(theirs>>16))
	s[9] = open >> 9 & (mine&(empty>>18) | free&(theirs>>18))
}

func (s *sources) any() Board {
	return s[0] | s[1] | s[2] | s[3] | s[4] | s[5] | s[6] | s[7] | s[8] | s[9]
}

// kinds returns the moves that a piece of the given side can make from a cell of the unflipped board, as a set of
// bits: bit k is set if the move whose distance is ends[side][k] is possible.
func (s *sources) kinds(side, cell int) uint {
	if side == white {
		cell ^= flipCell
	}
	at := func(kind int) uint { return uint(s[kind]>>(cell&63)) & 1 }
	along := at(0) | at(1)<<1 | at(2)<<2 | at(3)<<3
	one := at(4) | at(5)<<1 | at(6)<<2
	two := at(7) | at(8)<<1 | at(9)<<2
	if side == white {
		return two | one<<3 | along<<6
	}
	return along | one<<4 | two<<7
}

// tally has the number of moves that start from each square. Each number has four binary digits, which are on four
// boards: t[i] has the digits of weight 1<<i of all squares.
type tally [4]Board

// tally returns, for each square, the number of moves that start there: how many of the ten boards of s have the
// square. Each of these boards belongs to one kind of move. tally counts for all squares at once, with bitwise full
// adders.
func (s *sources) tally() (t tally) {
	a, ca := add3(s[0], s[1], s[2])
	b, cb := add3(s[3], s[4], s[5])
	c, cc := add3(s[6], s[7], s[8])
	d, cd := add3(a, b, c)
	ones, ce := d^s[9], d&s[9]
	e, fa := add3(ca, cb, cc)
	twos, fb := add3(e, cd, ce)
	return tally{ones, twos, fa ^ fb, fa & fb}
}

// add3 adds three one-bit numbers in each square. It returns the low and the high bit of each sum.
func add3(a, b, c Board) (sum, carry Board) {
	x := a ^ b
	return x ^ c, a&b | x&c
}

func (t *tally) flip() {
	for i := range t {
		t[i] = t[i].flip()
	}
}

// counts returns the number of moves from each row: byte r of the result is the number for row r. There are at most
// 180 moves in all, so that sums of these bytes also fit into a byte.
func (t *tally) counts() uint64 {
	return byteCounts(t[0]) + 2*byteCounts(t[1]) + 4*byteCounts(t[2]) + 8*byteCounts(t[3])
}

// byteCounts returns the number of squares in each row of the set b: byte r of the result is the number for row r.
func byteCounts(b Board) uint64 {
	x := uint64(b)
	x -= x >> 1 & 0x5555555555555555
	x = x&0x3333333333333333 + x>>2&0x3333333333333333
	return (x + x>>4) & 0x0f0f0f0f0f0f0f0f
}

// sums returns the cumulative sums of the eight bytes: byte i of the result is the sum of the bytes 0 to i.
func sums(bytes uint64) uint64 { return bytes * 0x0101010101010101 }

// find locates the move with index n. Moves are counted square by square, in the order of the squares' bits. It
// returns the bit of the square where the move starts, and the index of the move among the moves from that square.
// rows must be sums(t.counts()). find has no branches, because the processor could not predict them for a random n.
func (t *tally) find(n int, rows uint64) (cell, nth int) {
	row := atMost(rows, n)
	n -= int(rows << 8 >> (8 * row) & 0xff)
	at := func(i int) uint64 { return spread[t[i]>>(8*row)&63] << i }
	columns := sums(at(0) + at(1) + at(2) + at(3))
	column := atMost(columns, n)
	return int(8*row + column), n - int(columns<<8>>(8*column)&0xff)
}

// atMost returns how many of the five lowest bytes of the argument bytes are at most n.
func atMost(bytes uint64, n int) uint64 {
	above := uint64(n) + 1
	return (bytes&0xff-above)>>63 + (bytes>>8&0xff-above)>>63 + (bytes>>16&0xff-above)>>63 +
		(bytes>>24&0xff-above)>>63 + (bytes>>32&0xff-above)>>63
}

// spread[set], for a set of six bits, has bit i of the set in its byte i, as 0 or 1.
var spread = func() (s [1 << maxSize]uint64) {
	for row := range s {
		for column := range maxSize {
			s[row] |= uint64(row>>column&1) << (8 * column)
		}
	}
	return s
}()

// nthKind[s][n] is the position of the bit with index n, from 0, among the bits that are set in s.
var nthKind = func() (t [1 << 10][16]uint8) {
	for kinds := range t {
		n := 0
		for kind := range 10 {
			if kinds>>kind&1 != 0 {
				t[kinds][n] = uint8(kind)
				n++
			}
		}
	}
	return t
}()
