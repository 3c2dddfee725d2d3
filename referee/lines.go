package referee

import (
	"bytes"
	"strconv"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// The lines that a seat is sent, as the referee writes them while it plays and
// Traffic writes them again from a replay.

// appendGame adds the line that begins a game for a seat, which is told the seed
// of its own randomness.
func appendGame(dst []byte, v rules.Variant, c Clock, seat int, seed uint64) []byte {
	var pairs []protocol.Pair
	settings := v.Settings()
	for _, s := range settings {
		pairs = append(pairs, protocol.Pair(s))
	}
	if settings.Get("players") == "" {
		pairs = append(pairs, protocol.Pair{Name: "players", Value: strconv.Itoa(v.Players())})
	}
	pairs = append(pairs,
		protocol.Pair{Name: "seat", Value: strconv.Itoa(seat)},
		protocol.Pair{Name: "seed", Value: strconv.FormatUint(seed, 10)})
	return protocol.AppendGame(dst, v.Game().Name(), append(pairs, c.pairs()...)...)
}

// turnLine is where the legal moves stand in a turn's line.
type turnLine struct {
	text   []byte // what starts points into
	starts []int  // one a legal move, and one past the last
}

// append adds the view and the turn of a seat that has some time left.
func (t *turnLine) append(dst []byte, s rules.State, seat int, left time.Duration, legal []rules.Move) []byte {
	dst = append(dst, protocol.ViewPrefix...)
	dst = append(s.View(dst, seat), '\n')
	dst = protocol.AppendTurn(dst, s.Ply(), int(left.Milliseconds()))
	t.starts = t.starts[:0]
	for _, m := range legal {
		dst = append(dst, ' ')
		t.starts = append(t.starts, len(dst))
		dst = s.MoveText(dst, m)
	}
	t.starts = append(t.starts, len(dst)+1)
	t.text = append(dst, '\n')
	return t.text
}

// find is which of the legal moves is written so, -1 if none is.
func (t *turnLine) find(move []byte) int {
	for i, start := range t.starts[:len(t.starts)-1] {
		if bytes.Equal(move, t.text[start:t.starts[i+1]-1]) {
			return i
		}
	}
	return -1
}

// appendFault tells a seat of a fault: the culprit all of it, the others only
// its kind, since the text may tell of the culprit's cards.
func appendFault(dst []byte, seat int, f *Fault) []byte {
	text := f.Text
	if seat != f.Seat {
		text = brief(f.Code)
	}
	return protocol.AppendFault(dst, f.Seat, f.Code, text)
}
