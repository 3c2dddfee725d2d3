package tebes

import (
	"strconv"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
)

const letters = "wb" // of seats 0 and 1

// extras has the text of a view for each set of seats that can still get their extra move. Bit 0 of the index stands
// for white, bit 1 for black.
var extras = [4]string{"-", "w", "b", "bw"}

// View implements rules.State. It appends to dst what a seat may know, which is the whole position.
func (s *State) View(dst []byte, seat int) []byte {
	g := s.geometry()
	squares := int(s.rules.Size) * int(s.rules.Size)
	dst = append(dst, "size="...)
	dst = strconv.AppendUint(dst, uint64(s.rules.Size), 10)
	dst = append(dst, " colours="...)
	for square := range squares {
		dst = append(dst, letters[s.black>>g.cell[square]&1])
	}
	dst = append(dst, " pieces="...)
	for square := range squares {
		dst = append(dst, s.pieceAt(g.cell[square]))
	}
	dst = append(append(dst, " me="...), letters[seat&1])
	dst = append(dst, " extra="...)
	dst = append(dst, extras[s.extra&3]...)
	if s.bonus {
		return append(dst, " bonus=yes"...)
	}
	return append(dst, " bonus=no"...)
}

// pieceAt returns the letter of the piece on a cell, or a dot.
func (s *State) pieceAt(cell uint8) byte {
	for seat, b := range s.pieces {
		if b>>cell&1 != 0 {
			return letters[seat]
		}
	}
	return '.'
}

// illegalReason says why the illegal move m is illegal. why is a text for people, and code is the code of a
// rules.Refusal. square is the square for the Values of that Refusal.
func (s *State) illegalReason(m step) (why phrase.Text, code rules.RefusalCode, square uint8) {
	g := s.geometry()
	me, start, end := s.turn&1, s.pieceAt(m.start), s.pieceAt(m.end)
	from, to := g.squareOf[m.start], g.squareOf[m.end]
	if start != letters[me] {
		return phrase.New("%c has no piece on %d", letters[me], from), rules.NoOwnPiece, from
	}
	if end == letters[me] {
		return phrase.New("%c's own piece is on %d", letters[me], to), rules.SquareTaken, to
	}
	ahead, across := int(m.end>>3)-int(m.start>>3), int(m.end&7)-int(m.start&7)
	if me == white {
		ahead = -ahead
	}
	across = max(across, -across)
	far := max(ahead, across)
	if ahead < 0 || far == 0 || far > 2 || ahead != 0 && across != 0 && ahead != across {
		return phrase.New("a piece goes one or two squares, straight or diagonally forward or straight sideways"), rules.WrongWay, from
	}
	if between := (m.start + m.end) / 2; far == 2 && s.pieceAt(between) == letters[1-me] {
		square := g.squareOf[between]
		return phrase.New("the opponent's piece on %d is in the way", square), rules.PieceBetween, square
	}
	if end != '.' {
		if s.black>>m.start&1 == Board(me) {
			return phrase.New("from %d, a square of its own colour, a piece captures two squares away", from), rules.CaptureAtTwo, from
		}
		return phrase.New("from %d, a square of the other colour, a piece captures one square away", from), rules.CaptureAtOne, from
	}
	return phrase.New("it brings back an earlier position of this game"), rules.RepeatsEarlier, to
}

// ParseMove implements rules.State. The text is two squares, such as 19-14.
func (s *State) ParseMove(text string) (rules.Move, error) {
	from, rest, ok := number(text)
	if ok && len(rest) > 0 && rest[0] == '-' {
		to, rest, ok := number(rest[1:])
		if ok && rest == "" && max(from, to) < int(s.rules.Size)*int(s.rules.Size) {
			return rules.Move(from*maxSquares + to), nil
		}
	}
	size := int(s.rules.Size)
	middle := size * size / 2 // the first square below the middle, from which a step forward is possible
	return 0, phrase.Errorf("%q is not a move: write two squares from 0 to %d, as in %d-%d",
		text, size*size-1, middle, middle-size)
}

// number parses the number at the start of text: one or two digits without a leading zero. rest is the text after the
// number. ok is false if there is no such number.
func number(text string) (n int, rest string, ok bool) {
	for len(text) > 0 && text[0] >= '0' && text[0] <= '9' {
		if ok && n == 0 || n > 9 {
			return 0, text, false
		}
		n, text, ok = n*10+int(text[0]-'0'), text[1:], true
	}
	return n, text, ok
}

func (s *State) MoveText(dst []byte, m rules.Move) []byte { return moveText(dst, m) }

func moveText(dst []byte, m rules.Move) []byte {
	dst = strconv.AppendUint(dst, uint64(m/maxSquares), 10)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, uint64(m%maxSquares), 10)
}

// LogStart implements rules.State. It logs the random first moves.
func (s *State) LogStart(log *rules.Log) {
	if s.rules.Opening == 0 {
		return
	}
	bare := State{pieces: s.geometry().start, black: s.black, rules: s.rules, lastPly: rules.MaxPlies, extra: 1<<white | 1<<black}
	s.opening.Log(log, func(m rules.Move) { bare.Apply(m, log) })
}

func logMove(log *rules.Log, seat int, m rules.Move, captured, extra bool) {
	var text [8]byte
	log.Add(rules.AllSeats, "play", seat, string(moveText(text[:0], m)))
	if captured {
		log.Add(rules.AllSeats, "capture", seat, int(m)%maxSquares)
	}
	if extra {
		log.Add(rules.AllSeats, "extra", seat)
	}
}
