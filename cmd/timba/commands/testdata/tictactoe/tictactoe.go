// Package tictactoe is Tic-tac-toe, a game that is not part of timba.
package tictactoe

import (
	"embed"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/timba-arena/timba/rules"
)

const (
	name    = "tictactoe"
	letters = "bw" // the pieces of each seat
	squares = 9
)

//go:embed rules.en.md
var texts embed.FS

// Game is Tic-tac-toe.
var Game = &rules.Game{
	Name:    name,
	Texts:   texts,
	Options: []rules.Option{{Name: rules.OpeningOption.Name, Max: 3, Help: rules.OpeningOption.Help}},
	Display: rules.Display{Title: "Tic-tac-toe", Board: &rules.Board{Pieces: "board", Sides: letters}},
	Variant: func(g *rules.Game, settings rules.Settings) (*rules.Variant, error) {
		opening := settings.Int(rules.OpeningOption.Name)
		return &rules.Variant{
			Game: g, Settings: settings, Players: 2, Sides: 2, Prize: 1, HasChance: opening > 0, MaxPlies: squares,
			Deal: func(src *rules.Stream) rules.State { return rules.DrawOpening(new(state), opening, src, begin) },
		}, nil
	},
}

// state is a position. Squares are counted row by row from the top left, 0 to 8.
type state struct {
	pieces  [2]uint16 // of each seat, a bit for each square
	ply     int
	opening rules.Opening
}

// begin makes the position after an opening the first of the game.
func begin(first rules.State, o rules.Opening) {
	s := first.(*state)
	s.ply, s.opening = 0, o
}

func (s *state) free(m rules.Move) bool { return m < squares && (s.pieces[0]|s.pieces[1])>>m&1 == 0 }

func (s *state) won(seat int) bool {
	for _, line := range [...]uint16{0b111, 0b111_000, 0b111_000_000, 0b1_001_001, 0b10_010_010, 0b100_100_100, 0b100_010_001, 0b1_010_100} {
		if s.pieces[seat]&line == line {
			return true
		}
	}
	return false
}

func (s *state) Turn() int {
	n := bits.OnesCount16(s.pieces[0] | s.pieces[1])
	if n == squares || s.won(0) || s.won(1) {
		return rules.Over
	}
	return n % 2
}

func (s *state) Ply() int { return s.ply }

func (s *state) Legal(dst []rules.Move) []rules.Move {
	for m := range rules.Move(squares) {
		if s.free(m) && s.Turn() != rules.Over {
			dst = append(dst, m)
		}
	}
	return dst
}

func (s *state) Check(m rules.Move) error {
	switch {
	case s.Turn() == rules.Over:
		return fmt.Errorf("%q cannot be played: %w", s.MoveText(nil, m), rules.ErrOver)
	case !s.free(m):
		return fmt.Errorf("%q is not an empty square: try %d", s.MoveText(nil, m), s.Legal(nil))
	}
	return nil
}

func (s *state) Apply(m rules.Move, log *rules.Log) {
	seat := s.Turn()
	s.pieces[seat] |= 1 << m
	s.ply++
	if log != nil {
		log.Add(rules.AllSeats, "play", seat, int(m))
	}
}

func (s *state) LogStart(log *rules.Log) {
	if s.opening.Plies() > 0 {
		seat := 0
		s.opening.Log(log, func(m rules.Move) {
			log.Add(rules.AllSeats, "play", seat, int(m))
			seat = 1 - seat
		})
	}
}

func (s *state) Points() []float64 {
	switch {
	case s.won(0):
		return []float64{1, 0}
	case s.won(1):
		return []float64{0, 1}
	}
	return []float64{0.5, 0.5}
}

func (s *state) MoveText(dst []byte, m rules.Move) []byte {
	return strconv.AppendInt(dst, int64(m), 10)
}

func (s *state) ParseMove(text string) (rules.Move, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= squares || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("%q is not a move: write a square, 0 to 8", text)
	}
	return rules.Move(n), nil
}

func (s *state) View(dst []byte, seat int) []byte {
	dst = append(dst, "board="...)
	for square := range squares {
		piece := byte('.')
		for owner := range letters {
			if s.pieces[owner]>>square&1 != 0 {
				piece = letters[owner]
			}
		}
		dst = append(dst, piece)
	}
	return append(dst, " me="+letters[seat:seat+1]...)
}

func (s *state) Clone() rules.State {
	c := *s
	return &c
}
