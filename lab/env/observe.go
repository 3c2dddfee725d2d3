package env

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/timba-arena/timba/rules"
)

// writeScores writes into the message to the client the points of game i, whether the game is over and, if so, the
// ranks. If the game is over or acted is true (the client has just moved), it also writes the rewards for
// everything that has happened since rewards were last written.
func (b *Batch) writeScores(i int, w *worker, state rules.State, acted bool) {
	rewards, standing, ranks := b.rowOf(b.arrays.rewards, i), b.rowOf(b.arrays.points, i), b.rowOf(b.arrays.ranks, i)
	points, last := w.points[:b.layout.Players], &b.slots[i].points
	over := state.Turn() == rules.Over
	b.rowOf(b.arrays.over, i)[0] = 0
	clear(ranks)
	if over {
		b.rowOf(b.arrays.over, i)[0] = 1
		final := state.Points()
		places := b.config.Variant.Ranks(final)
		for seat, rank := range places {
			points[seat], ranks[seat] = float32(final[seat]), uint8(rank)
			if b.config.Rewards == RewardOutcome {
				r := rules.RecordOf(b.config.Variant, places, seat)
				putFloat(rewards[4*seat:], float32(r.Wins-r.Losses))
			}
		}
	} else {
		b.games.points(i, points)
	}
	rewarded := (acted || over) && b.config.Rewards == RewardPoints
	for seat, p := range points {
		putFloat(standing[4*seat:], p)
		if rewarded {
			putFloat(rewards[4*seat:], p-last[seat])
			last[seat] = p
		}
	}
}

func putFloat(dst []byte, x float32) { binary.LittleEndian.PutUint32(dst, math.Float32bits(x)) }

// writeObservation writes what the seat to move in game i may know, and its legal moves, into the message to the
// client. If the game is over, the observation is all zeros.
func (b *Batch) writeObservation(i int, w *worker, state rules.State) error {
	s := &b.slots[i]
	binary.LittleEndian.PutUint32(b.rowOf(b.arrays.deal, i), s.dealNumber)
	binary.LittleEndian.PutUint16(b.rowOf(b.arrays.ply, i), uint16(state.Ply()))
	b.rowOf(b.arrays.turn, i)[0] = uint8(s.seat)
	if err := b.writeMoves(i, state); err != nil {
		return err
	}
	planes, numbers := b.rowOf(b.arrays.planes, i), b.rowOf(b.arrays.numbers, i)
	if s.seat == rules.Over {
		clear(planes)
		clear(numbers)
		return nil
	}
	if len(planes) > 0 { // else the client has left out observations
		w.row = rowWriter{planes: planes, numbers: numbers}
		b.games.observe(i, int(s.seat), &w.row)
	}
	return nil
}

// writeMoves writes the legal moves of game i into the message to the client, as a list and as a mask. If the
// client wants only one of the two, it writes only that.
func (b *Batch) writeMoves(i int, state rules.State) error {
	s := &b.slots[i]
	mask, list := b.rowOf(b.arrays.mask, i), b.rowOf(b.arrays.legal, i)
	before := b.legal(i)
	if len(mask) > 0 {
		for _, m := range before {
			mask[m] = 0
		}
	}
	start := i * b.shape.widest
	legal := state.Legal(b.moves[start : start : start+b.shape.widest])
	if len(legal) > b.shape.widest || len(legal) > 0 && int(legal[len(legal)-1]) >= len(b.layout.Actions) {
		s.moveCount = 0
		return fmt.Errorf("env: game %d, deal %d: %d legal moves up to %d do not fit the arrays", i, s.dealNumber, len(legal), legal[len(legal)-1])
	}
	s.moveCount = uint16(len(legal))
	binary.LittleEndian.PutUint16(b.rowOf(b.arrays.count, i), s.moveCount)
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
			binary.LittleEndian.PutUint16(list[2*j:], noAction)
		}
	}
	return nil
}
