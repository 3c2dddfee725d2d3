package teeko

import (
	"strconv"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
)

// LogStart implements rules.State. It logs the random first moves.
func (s *State) LogStart(log *rules.Log) {
	if s.rules.Opening == 0 {
		return
	}
	seat := black
	s.opening.Log(log, func(m rules.Move) {
		s.logPlay(log, seat, m)
		seat = 1 - seat
	})
}

func (s *State) logPlay(log *rules.Log, seat int, m rules.Move) {
	log.Add(rules.AllSeats, "play", seat, string(s.MoveText(nil, m)))
}

// View implements rules.State. It appends to dst what a seat may know: the board, the color of the seat, and whether
// pieces are placed or moved.
func (s *State) View(dst []byte, seat int) []byte {
	dst = append(dst, "board="...)
	for sq := range squares {
		dst = append(dst, s.pieceAt(sq))
	}
	dst = append(dst, " me="...)
	dst = append(dst, letters[seat])
	if s.IsPlacing() {
		return append(dst, " phase=drop"...)
	}
	return append(dst, " phase=move"...)
}

const letters = "bw"

// pieceAt returns the letter of the piece on a square, or a dot.
func (s *State) pieceAt(sq int) byte {
	for side := range letters {
		if s.board[side]>>sq&1 != 0 {
			return letters[side]
		}
	}
	return '.'
}

// MoveText implements rules.State. The text is the square of a new piece, such as 12, or the squares where a move
// starts and ends, such as 12-13. For a number that is not a move it is "?".
func (s *State) MoveText(dst []byte, m rules.Move) []byte {
	switch {
	case m < squares:
		return strconv.AppendInt(dst, int64(m), 10)
	case m >= moveBase && m < endMoves:
		from, to := split(m)
		dst = strconv.AppendInt(dst, int64(from), 10)
		return strconv.AppendInt(append(dst, '-'), int64(to), 10)
	}
	return append(dst, '?')
}

func (s *State) ParseMove(text string) (rules.Move, error) {
	from, to, moved := strings.Cut(text, "-")
	a, ok := square(from)
	if ok && !moved {
		return rules.Move(a), nil
	}
	b, okToo := square(to)
	if ok && okToo {
		return move(a, b), nil
	}
	return 0, phrase.Errorf("%q is not a move: write a square from 0 to 24 to place a piece (12) or two to move it (12-13)", text)
}

func square(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n < squares && strconv.Itoa(n) == text
}
