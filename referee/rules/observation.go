package rules

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/timba-arena/timba/protocol/words"
)

// Observation is what a seat knows about an unfinished game: the view and turn lines, and
// the seat to move.
type Observation struct {
	Seat int         // the seat that sees the view
	Turn int         // the seat to move
	Ply  int         // moves made
	View words.Pairs // the result of State.View for the seat
	// Moves is the legal moves in order, as State.MoveText writes them. It is empty if
	// another seat is to move.
	Moves words.List
}

// Observe returns what a seat knows about a position.
func Observe(s State, seat int) Observation {
	o := Observation{Seat: seat, Turn: s.Turn(), Ply: s.Ply(), View: s.View(nil, seat)}
	if o.Turn == seat {
		for _, m := range s.Legal(nil) {
			o.Moves = appendMove(o.Moves, s, m)
		}
	}
	return o
}

// appendMove appends a move to a list of moves separated by spaces.
func appendMove(dst []byte, s State, m Move) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	return s.MoveText(dst, m)
}

// scratch is reusable memory for Check.
type scratch struct {
	view, moves []byte
	legal       []Move
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Check returns how a position that was made from the observation differs from it: in the
// first different value of the view, or in the moves; nil if it does not. It ignores keys
// that the game does not have.
func (o Observation) Check(game string, s State) error {
	buf := scratches.Get().(*scratch)
	defer scratches.Put(buf)
	buf.view = s.View(buf.view[:0], o.Seat)
	if !bytes.Equal(buf.view, o.View) {
		for key, want := range words.Pairs(buf.view).All() {
			if got, _ := o.View.Lookup(string(key)); !bytes.Equal(got, want) {
				return fmt.Errorf("%s: view key %s=%q does not fit the others: try %s=%s", game, key, got, key, want)
			}
		}
	}
	switch {
	case s.Turn() == Over:
		return fmt.Errorf("%s: view %q is of a game that is over: %w", game, o.View, ErrOver)
	case s.Turn() != o.Turn:
		return fmt.Errorf("%s: turn %d does not fit view %q: try %d", game, o.Turn, o.View, s.Turn())
	case s.Ply() != o.Ply:
		return fmt.Errorf("%s: ply %d does not fit view %q: try %d", game, o.Ply, o.View, s.Ply())
	case len(o.Moves) == 0:
		return nil
	}
	buf.legal, buf.moves = s.Legal(buf.legal[:0]), buf.moves[:0]
	for _, m := range buf.legal {
		buf.moves = appendMove(buf.moves, s, m)
	}
	if !bytes.Equal(buf.moves, o.Moves) {
		return fmt.Errorf("%s: moves %q do not fit view %q: try %q", game, o.Moves, o.View, buf.moves)
	}
	return nil
}
