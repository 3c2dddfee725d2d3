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

// shape is what the arrays of a variant depend on.
type shape struct {
	widest      int    // the most legal moves of a position
	highestMove string // the text of the highest move
	bytes       int    // of a position
	// positions returns so many positions, which are to be dealt first.
	positions func(n int) positions
}

// shapes has an entry for each game. It returns the shape for the game's own struct of options.
var shapes = map[*rules.Game]func(options any) shape{
	brisca.Game: shapeFunc(observeBrisca,
		func(s *brisca.State, dst []float32) { tablePoints(&s.Table, dst) },
		func(brisca.Rules) (int, string) { return 4, "swap:12b" }), // three cards and an exchange
	tute.Game: shapeFunc(observeTute,
		func(s *tute.State, dst []float32) { tablePoints(&s.Table, dst) },
		func(tute.Rules) (int, string) { return 9, "sing:b" }), // eight cards and an exchange
	podrida.Game: shapeFunc(observePodrida,
		podridaPoints,
		func(r podrida.Rules) (int, string) { return r.MaxHand() + 1, fmt.Sprintf("bid:%d", r.MaxHand()) }),
	tebes.Game: shapeFunc(observeTebes, noPoints,
		func(r tebes.Rules) (int, string) { return rules.MaxMoves, lastMove(int(r.Size)) }),
	// Four pieces with eight neighbours each are more than the squares that may be placed on.
	teeko.Game: shapeFunc(observeTeeko, noPoints,
		func(teeko.Rules) (int, string) { return 4 * 8, lastMove(teekoSize) }),
}

// lastMove returns the highest move on a board: from its last square to the same.
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

// noPoints are the points of games that have some at their end alone.
func noPoints[P any](_ P, dst []float32) { clear(dst) }

// dealable is a position that is dealt by the resolved options of its game.
type dealable[S, R any] interface {
	*S
	rules.State
	Deal(R, *rules.Stream)
}

// shapeFunc returns a game's entry. observe writes what a seat knows; points sets the points by seat of a
// game that is not over; moves returns the most legal moves of a position and the highest move.
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

// positions are positions of one variant.
type positions interface {
	deal(i int, src *rules.Stream)
	state(i int) rules.State
	// points sets the points by seat of a game that is not over.
	points(i int, dst []float32)
	// observe writes what a seat knows.
	observe(i, seat int, r *rowWriter)
}

// gamePositions is the positions of one game, side by side in memory.
type gamePositions[S, R any, P dealable[S, R]] struct {
	rules  R
	write  func(P, int, *rowWriter)
	score  func(P, []float32)
	states []S
}

func (p *gamePositions[S, R, P]) deal(i int, src *rules.Stream)     { P(&p.states[i]).Deal(p.rules, src) }
func (p *gamePositions[S, R, P]) state(i int) rules.State           { return P(&p.states[i]) }
func (p *gamePositions[S, R, P]) observe(i, seat int, r *rowWriter) { p.write(&p.states[i], seat, r) }
func (p *gamePositions[S, R, P]) points(i int, dst []float32)       { p.score(&p.states[i], dst) }
