package rules

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol/words"
)

// Observation is what one seat knows about an unfinished game: its view (what it may know of the position, as text),
// which seat is to move and, if that is the observing seat, the legal moves.
type Observation struct {
	Seat int         // the seat that has the view
	Turn int         // the seat to move
	Ply  int         // number of moves made
	View words.Pairs // the result of State.View for the seat
	// Moves lists the legal moves in order, in the notation of State.MoveText. It is empty if another seat is
	// to move.
	Moves words.List
}

// Observe returns what a seat knows about position s.
func Observe(s State, seat int) Observation {
	o := Observation{Seat: seat, Turn: s.Turn(), Ply: s.Ply(), View: s.View(nil, seat)}
	if o.Turn == seat {
		o.Moves = legalTexts(nil, s)
	}
	return o
}

// legalTexts appends the texts of the legal moves of s to dst, separated by spaces.
func legalTexts(dst []byte, s State) []byte {
	for i, m := range s.Legal(make([]Move, 0, 32)) {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = s.MoveText(dst, m)
	}
	return dst
}

// Check returns an error if o differs from what the same seat observes in position s. The error names the first
// difference: a key of the view, the turn, the ply or the legal moves. Check ignores keys of o.View that the game
// does not have; if o.Moves is empty, it does not compare the moves. game is the game's name for errors.
func (o Observation) Check(game string, s State) error {
	if view := s.View(make([]byte, 0, len(o.View)+1), o.Seat); !bytes.Equal(view, o.View) {
		for key, want := range words.Pairs(view).All() {
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
	if moves := legalTexts(make([]byte, 0, len(o.Moves)+1), s); !bytes.Equal(moves, o.Moves) {
		return fmt.Errorf("%s: moves %q do not fit view %q: try %q", game, o.Moves, o.View, moves)
	}
	return nil
}

// ViewReader parses a view, the text "key=value key=value" of what a seat may know, for the FromView function of a
// game. It stores the first error, which Err returns. After an error, all methods that read a value return zero
// values.
type ViewReader struct {
	Observation
	game string
	rest words.Pairs // part of the view after the last value read, where the next key usually is
	err  error
}

// Reader returns a ViewReader for the view in o. players is the number of players of the game. If the seat, the turn
// or the ply in o is out of range, the reader has stored an error already. game is the game's name for errors.
func (o Observation) Reader(game string, players int) ViewReader {
	r := ViewReader{Observation: o, game: game, rest: o.View}
	switch {
	case o.Turn == Over:
		r.err = fmt.Errorf("%s: turn %d cannot be observed: %w", game, o.Turn, ErrOver)
	case o.Seat < 0 || o.Seat >= players:
		r.err = fmt.Errorf("%s: seat %d is not in this game: try 0 to %d", game, o.Seat, players-1)
	case o.Turn < 0 || o.Turn >= players:
		r.err = fmt.Errorf("%s: turn %d is not in this game: try 0 to %d", game, o.Turn, players-1)
	case o.Ply < 0 || o.Ply >= MaxPlies:
		r.err = fmt.Errorf("%s: ply %d is out of range: try 0 to %d", game, o.Ply, MaxPlies-1)
	}
	return r
}

// Err returns the first error that a method of the reader has stored, or nil.
func (r *ViewReader) Err() error { return r.err }

// Finish returns s, the position that was made from the view. It returns an error instead if an earlier call has
// stored one, or if the seat would not observe exactly the same in s.
func (r *ViewReader) Finish(s State) (State, error) {
	if r.err == nil {
		r.err = r.Check(r.game, s)
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

// Fail stores an error about the value of a key, unless an error is stored already. why ends the text of the error,
// which begins "view key KEY=VALUE".
func (r *ViewReader) Fail(key, why string) {
	if r.err == nil {
		value, _ := r.View.Lookup(key)
		r.err = fmt.Errorf("%s: view key %s=%q %s", r.game, key, value, why)
	}
}

// Value returns the value of a key. If there is no such key, it stores an error and returns nil.
func (r *ViewReader) Value(key string) []byte {
	if r.err != nil {
		return nil
	}
	if n := len(key); len(r.rest) > n && r.rest[n] == '=' && string(r.rest[:n]) == key {
		value := r.rest[n+1:]
		if end := bytes.IndexByte(value, ' '); end >= 0 {
			r.rest = value[end+1:]
			return value[:end]
		}
		r.rest = nil
		return value
	}
	value, ok := r.View.Lookup(key)
	if !ok {
		r.err = fmt.Errorf("%s: view has no key %s: %q", r.game, key, r.View)
	}
	return value
}

// Word looks up the value of a key in the list words and returns its index there. If the value is not in the list, it
// stores an error and returns 0.
func (r *ViewReader) Word(key string, words ...string) int {
	value := r.Value(key)
	for i, w := range words {
		if w == string(value) {
			return i
		}
	}
	if r.err == nil {
		r.Fail(key, "is not known: try "+strings.Join(words, " or "))
	}
	return 0
}

// Int returns the value of a key as a number. If it is not a number from low to high, Int stores an error.
func (r *ViewReader) Int(key string, low, high int) int {
	var n [1]int
	r.Ints(key, n[:], low, high, low)
	return n[0]
}

// Ints fills numbers with the value of a key: as many numbers as the slice has elements, joined by commas. It stores
// an error if their count is wrong or a number is not from low to high. If none is less than low, "-" may stand in
// place of a number; Ints then stores the value of none there.
func (r *ViewReader) Ints(key string, numbers []int, low, high, none int) {
	rest := r.Value(key)
	for i := range numbers {
		if r.err != nil {
			return
		}
		word := rest
		if end := bytes.IndexByte(rest, ','); end >= 0 && i < len(numbers)-1 {
			word, rest = rest[:end], rest[end+1:]
		} else {
			rest = nil
		}
		if none < low && string(word) == "-" {
			numbers[i] = none
			continue
		}
		n, err := strconv.Atoi(string(word))
		if err != nil || n < low || n > high {
			r.Fail(key, fmt.Sprintf("is wrong: try numbers from %d to %d, as many as are due: %d", low, high, len(numbers)))
			return
		}
		numbers[i] = n
	}
}
