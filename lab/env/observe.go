package env

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/timba-arena/timba/referee/rules"
)

// maxNumbers is the longest row of the array "numbers": La Podrida with all seats.
const maxNumbers = 64

// standing writes the points.
func (b *Batch) standing(i int, w *worker) {
	row, points := b.row(b.at.points, i), w.points[:b.layout.Players]
	b.games.points(i, points)
	for seat, p := range points {
		putFloat(row[4*seat:], p)
	}
}

// reward writes the rewards since the last ones. The points are those of standing.
func (b *Batch) reward(i int, w *worker, state rules.State) {
	row := b.row(b.at.rewards, i)
	switch {
	case b.config.Rewards == Points:
		last := &b.slots[i].points
		for seat, p := range w.points[:b.layout.Players] {
			putFloat(row[4*seat:], p-last[seat])
			last[seat] = p
		}
	case state.Turn() == rules.Over:
		ranks := b.config.Variant.Ranks(state.Points())
		for seat := range b.layout.Players {
			r := rules.RecordOf(b.config.Variant, ranks, seat)
			putFloat(row[4*seat:], float32(r.Wins-r.Losses))
		}
	}
}

func putFloat(dst []byte, x float32) { binary.LittleEndian.PutUint32(dst, math.Float32bits(x)) }

// finish writes that a game is over, and the ranks.
func (b *Batch) finish(i int, state rules.State) {
	b.row(b.at.over, i)[0] = 1
	ranks := b.row(b.at.ranks, i)
	for seat, rank := range b.config.Variant.Ranks(state.Points()) {
		ranks[seat] = uint8(rank)
	}
}

// observe writes the position for the seat to move: its view and its legal moves. Nothing is seen
// of a game that is over.
func (b *Batch) observe(i int, w *worker, state rules.State) error {
	s := &b.slots[i]
	binary.LittleEndian.PutUint32(b.row(b.at.deal, i), s.deal)
	binary.LittleEndian.PutUint16(b.row(b.at.ply, i), uint16(state.Ply()))
	b.row(b.at.turn, i)[0] = uint8(s.seat)
	if err := b.list(i, state); err != nil {
		return err
	}
	planes, numbers := b.row(b.at.planes, i), b.row(b.at.numbers, i)
	if s.seat == rules.Over {
		clear(planes)
		clear(numbers)
		return nil
	}
	if len(planes) == 0 {
		return nil // left out
	}
	n := w.numbers[:]
	b.games.observe(i, int(s.seat), planes, n)
	for j := range len(numbers) / 2 {
		binary.LittleEndian.PutUint16(numbers[2*j:], uint16(n[j]))
	}
	return nil
}

// list writes the legal moves.
func (b *Batch) list(i int, state rules.State) error {
	s := &b.slots[i]
	mask, list := b.row(b.at.mask, i), b.row(b.at.legal, i)
	before := b.legal(i)
	if len(mask) > 0 {
		for _, m := range before {
			mask[m] = 0
		}
	}
	start := i * b.shape.widest
	legal := state.Legal(b.moves[start : start : start+b.shape.widest])
	if len(legal) > b.shape.widest || len(legal) > 0 && int(legal[len(legal)-1]) >= len(b.layout.Actions) {
		s.count = 0
		return fmt.Errorf("env: game %d, deal %d: %d legal moves up to %d do not fit the arrays", i, s.deal, len(legal), legal[len(legal)-1])
	}
	s.count = uint16(len(legal))
	binary.LittleEndian.PutUint16(b.row(b.at.count, i), s.count)
	if len(mask) > 0 {
		for _, m := range legal {
			mask[m] = 1
		}
	}
	if len(list) > 0 {
		for j, m := range legal {
			binary.LittleEndian.PutUint16(list[2*j:], uint16(m))
		}
		for j := len(legal); j < len(before); j++ {
			binary.LittleEndian.PutUint16(list[2*j:], padding)
		}
	}
	return nil
}
