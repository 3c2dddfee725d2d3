package rl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// progress is the first line of a checkpoint.
type progress struct {
	Episodes     int    `json:"episodes"`
	SinceMetrics Counts `json:"since"` // counts since the last line of metrics
}

// Save writes a checkpoint of the training to w: a line of JSON, then every table in little-endian binary.
func (l *Learner) Save(w io.Writer) error {
	if err := run.WriteState(w, progress{l.Episodes, l.sinceMetrics}); err != nil {
		return err
	}
	for _, t := range l.tables() {
		if err := t.Save(w); err != nil {
			return err
		}
	}
	return nil
}

// Load restores the state of a learner that Learner.Save has written. l must be new and have the same configuration
// as that learner.
func (l *Learner) Load(from io.Reader) error {
	var at progress
	r, err := run.ReadState(from, &at)
	if err != nil {
		return err
	}
	if at.Episodes < 0 || at.Episodes > l.config.Episodes {
		return fmt.Errorf("%d episodes are not among the %d of the run", at.Episodes, l.config.Episodes)
	}
	l.Episodes, l.sinceMetrics = at.Episodes, at.SinceMetrics
	return l.loadTables(r)
}

// adopt replaces the tables of l by those in from, a checkpoint of another learner whose tables must be of the same
// kind. It ignores the number of episodes and the counts in the checkpoint.
func (l *Learner) adopt(from io.Reader) error {
	var at progress
	r, err := run.ReadState(from, &at)
	if err != nil {
		return err
	}
	return l.loadTables(r)
}

func (l *Learner) loadTables(r io.Reader) error {
	for _, t := range l.tables() {
		if err := t.Load(r); err != nil {
			return err
		}
	}
	l.hasLoggedFull = l.Rejections() > 0
	return nil
}

func (l *Learner) tables() []*ReturnTable {
	return append(l.states[:len(l.states):len(l.states)], l.votes...)
}

// Save writes the table in little-endian binary, one shard (a part of the table) after another. For each shard it
// writes the number of used slots, the number of slots and the number of rejected pairs, and then the pairs of
// state and action. A pair is a word with key, action and count, followed by the mean.
func (t *ReturnTable) Save(w io.Writer) error {
	var b []byte
	for n := range t.shards {
		s := &t.shards[n]
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(s.used))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s.words)))
		b = binary.LittleEndian.AppendUint64(b, s.rejections)
		for i, word := range s.words {
			if word != 0 {
				b = binary.LittleEndian.AppendUint64(b, word)
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(s.means[i]))
			}
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// Load restores a table that ReturnTable.Save has written. t must be new and have the same memory limit as that
// table.
func (t *ReturnTable) Load(r io.Reader) error {
	for n := range t.shards {
		var head [16]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return err
		}
		used, slots := int64(binary.LittleEndian.Uint32(head[0:])), int(binary.LittleEndian.Uint32(head[4:]))
		if slots > t.maxSlots || used > int64(slots) {
			return fmt.Errorf("a table of %d slots with %d in use does not fit into %d: try more --memory", slots, used, t.maxSlots)
		}
		b, err := model.ReadBytes(r, used*pairBytes)
		if err != nil {
			return err
		}
		t.shards[n] = shard{rejections: binary.LittleEndian.Uint64(head[8:])}
		if used == 0 {
			continue
		}
		t.shards[n].resize(slots)
		for ; len(b) > 0; b = b[pairBytes:] {
			p := decodePair(n, binary.LittleEndian.Uint64(b), math.Float32frombits(binary.LittleEndian.Uint32(b[8:])))
			if p.Key.Rest() == 0 || !t.Set(p) {
				return errors.New("a table has a pair that cannot be")
			}
		}
	}
	return nil
}
