package referee

import (
	"bytes"
	"strconv"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// The lines for a seat, which the referee writes during a game, and Traffic from a replay.

// appendGame appends the line that begins a game for a seat; seed is for the bot's own
// randomness.
func appendGame(dst []byte, v *rules.Variant, c Clock, seat int, seed uint64) []byte {
	var pairs []protocol.Pair
	settings := v.Settings
	for _, s := range settings {
		pairs = append(pairs, protocol.Pair(s))
	}
	if settings.Get("players") == "" {
		pairs = append(pairs, protocol.Pair{Name: "players", Value: strconv.Itoa(v.Players)})
	}
	pairs = append(pairs,
		protocol.Pair{Name: "seat", Value: strconv.Itoa(seat)},
		protocol.Pair{Name: "seed", Value: strconv.FormatUint(seed, 10)})
	return protocol.AppendGame(dst, v.Game.Name, append(pairs, c.Pairs()...)...)
}

// turnLine is the text of the legal moves in a turn line.
type turnLine struct {
	text   []byte // what starts points into
	starts []int  // one a legal move, and one past the last
}

// append appends the view and the turn of a seat with its remaining time.
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

// moves returns the legal moves as the bot sees them.
func (t *turnLine) moves() protocol.Words { return t.text[t.starts[0] : len(t.text)-1] }

// find returns the index of the legal move with this text, -1 if there is none.
func (t *turnLine) find(move []byte) int {
	for i, start := range t.starts[:len(t.starts)-1] {
		if bytes.Equal(move, t.text[start:t.starts[i+1]-1]) {
			return i
		}
	}
	return -1
}
