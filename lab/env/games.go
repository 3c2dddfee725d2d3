package env

import (
	"fmt"
	"unsafe"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/rules/tute"
)

// shape holds the properties of a game, under certain options, that determine the sizes of its arrays of observations
// and moves.
type shape struct {
	widest      int    // maximal number of legal moves in a position
	highestMove string // text of the move with the highest number
	bytes       int    // size of a position in memory
	// positions returns a list of n positions. Before a position is used, the list's method deal must be called for
	// it.
	positions func(n int) positions
}

// shapes has a function for each game that returns the shape of the game under the given options. The argument is the
// game's struct of options, such as brisca.Rules.
var shapes = map[*rules.Game]func(options any) shape{
	brisca.Game: shapeFunc(observeBrisca,
		func(s *brisca.State, dst []float32) { tablePoints(&s.Table, dst) },
		func(brisca.Rules) (int, string) { return 4, "swap:12b" }), // three cards to play and an exchange
	tute.Game: shapeFunc(observeTute,
		func(s *tute.State, dst []float32) { tablePoints(&s.Table, dst) },
		func(tute.Rules) (int, string) { return 9, "sing:b" }), // eight cards to play and an exchange
	podrida.Game: shapeFunc(observePodrida,
		podridaPoints,
		func(r podrida.Rules) (int, string) { return r.MaxHand() + 1, fmt.Sprintf("bid:%d", r.MaxHand()) }),
	tebes.Game: shapeFunc(observeTebes, noPoints,
		func(r tebes.Rules) (int, string) { return rules.MaxMoves, lastMove(int(r.Size)) }),
	// Four pieces with eight neighbors each give more moves than a placement, which has at most 25.
	teeko.Game: shapeFunc(observeTeeko, noPoints,
		func(teeko.Rules) (int, string) { return 4 * 8, lastMove(teekoSize) }),
}

// lastMove returns, for a board of size*size squares, the text of the move with the highest number: from the last
// square to the same square.
func lastMove(size int) string { return fmt.Sprintf("%d-%d", size*size-1, size*size-1) }

func tablePoints(t *baraja.Table, dst []float32) {
	for seat := range dst {
		dst[seat] = float32(t.Points[seat])
	}
}

func podridaPoints(s *podrida.State, dst []float32) {
	for seat := range dst {
		dst[seat] = float32(s.PointsOf(seat))
	}
}

func noPoints[P any](_ P, dst []float32) { clear(dst) }

// dealable is a type constraint: a pointer to the position type S of a game, which can be dealt with options of
// type R.
type dealable[S, R any] interface {
	*S
	rules.State
	Deal(R, *rules.Stream)
}

// shapeFunc returns a function for the map shapes. observe writes what a seat may know of a position. points stores
// the points by seat in a game that is not over. moves returns the maximal number of legal moves in a position, and
// the text of the move with the highest number.
func shapeFunc[S, R any, P dealable[S, R]](
	observe func(P, int, *rowWriter), points func(P, []float32), moves func(R) (int, string),
) func(any) shape {
	return func(options any) shape {
		r := options.(R)
		widest, last := moves(r)
		return shape{widest, last, int(unsafe.Sizeof(*new(S))), func(n int) positions {
			return &gamePositions[S, R, P]{r, observe, points, make([]S, n)}
		}}
	}
}

// positions is a list of positions of the same variant of a game.
type positions interface {
	deal(i int, src *rules.Stream)
	state(i int) rules.State
	// set copies s, a position of the same variant, to position i.
	set(i int, s rules.State)
	// points sets dst to the points by seat in position i. The game must not be over.
	points(i int, dst []float32)
	// observe writes to r what the seat may know about position i.
	observe(i, seat int, r *rowWriter)
}

// gamePositions implements positions for one game. The positions are adjacent in memory.
type gamePositions[S, R any, P dealable[S, R]] struct {
	rules  R
	write  func(P, int, *rowWriter)
	score  func(P, []float32)
	states []S
}

func (p *gamePositions[S, R, P]) deal(i int, src *rules.Stream)     { P(&p.states[i]).Deal(p.rules, src) }
func (p *gamePositions[S, R, P]) state(i int) rules.State           { return P(&p.states[i]) }
func (p *gamePositions[S, R, P]) set(i int, s rules.State)          { p.states[i] = *s.(P) }
func (p *gamePositions[S, R, P]) observe(i, seat int, r *rowWriter) { p.write(&p.states[i], seat, r) }
func (p *gamePositions[S, R, P]) points(i int, dst []float32)       { p.score(&p.states[i], dst) }
