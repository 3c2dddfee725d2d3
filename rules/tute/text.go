package tute

import (
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// LogStart implements rules.State. It logs the deal and the trump card, then a win by the dealt cards alone, or
// the 12s and 11s that the seats declare.
func (s *State) LogStart(log *rules.Log) {
	s.LogDeal(log)
	if s.Mover < 0 {
		s.FindInstantWins(s.rules.BlackHand, true, log)
	}
	for i := range int(s.Players) { // seat 0 leads
		s.logSong(i, log)
	}
}

// View implements rules.State. It appends to dst what a seat may know, as "key=value" pairs.
func (s *State) View(dst []byte, seat int) []byte {
	dst = s.Table.View(dst, seat)
	dst = append(dst, " declared="...)
	for i, d := range s.DeclaredSuits[:s.Players] {
		if i > 0 {
			dst = append(dst, ',')
		}
		if d == 0 {
			dst = append(dst, '-')
		} else {
			dst = append(dst, baraja.Suits[d-1])
		}
	}
	dst = append(dst, " sung="...)
	if s.SungSuits == 0 {
		return append(dst, '-')
	}
	before := len(dst)
	for suit := range suits {
		if s.SungSuits>>suit&1 != 0 {
			if len(dst) > before {
				dst = append(dst, ',')
			}
			dst = append(dst, baraja.Suits[suit])
		}
	}
	return dst
}

// MoveText implements rules.State. The text is a card, an exchange or a declaration: 12c, swap:7o or sing:c.
func (s *State) MoveText(dst []byte, m rules.Move) []byte {
	if m >= SingMove && m < SingMove+suits {
		dst = append(dst, "sing:"...)
		return append(dst, baraja.Suits[m-SingMove])
	}
	return baraja.MoveText(dst, m)
}

func (s *State) ParseMove(text string) (rules.Move, error) {
	word, ok := strings.CutPrefix(text, "sing:")
	if !ok {
		return baraja.ParseMove(text)
	}
	suit := strings.Index(baraja.Suits, word)
	if len(word) != 1 || suit < 0 {
		return 0, phrase.Errorf("%q is not a move: write sing: and a suit, one of o, c, e and b, as in sing:c", text)
	}
	return SingMove + rules.Move(suit), nil
}
