package alphabeta

import "github.com/timba-arena/timba/rules"

// boundKind says what a score of the table is.
type boundKind uint8

const (
	exact boundKind = iota + 1
	lowerBound
	upperBound
)

// entry is 16 bytes. Its score counts wins from its own position.
type entry struct {
	key   uint64
	score int32
	move  rules.Move
	depth int8
	kind  boundKind // in the upper six bits, the age of the table
}

const entrySize = 16

// table is a transposition table (Greenblatt, Eastlake and Crocker, "The Greenblatt Chess
// Program", 1967) of a fixed size. Of the two entries that a key may have, one keeps the deepest
// search and the other the last.
type table struct {
	entries []entry
	shift   uint8
	age     uint8
}

const ages = 1 << 6

// newTable returns a table of at most so many bytes: none if they do not hold two entries.
func newTable(bytes int) (t table) {
	n := 2
	for n*2*entrySize <= bytes {
		n *= 2
	}
	if n*entrySize > bytes {
		return table{}
	}
	t.entries, t.shift = make([]entry, n), 64
	for n > 2 {
		n /= 2
		t.shift--
	}
	return t
}

// clear makes the table empty. It costs nothing but once in 63 times.
func (t *table) clear() {
	if t.age++; t.age == ages {
		clear(t.entries)
		t.age = 1
	}
}

// find returns the entry of a key, nil if it has none.
func (t *table) find(key uint64) *entry {
	if len(t.entries) == 0 {
		return nil
	}
	i := t.slot(key)
	for e := range 2 {
		if e := &t.entries[i+uint64(e)]; e.key == key && uint8(e.kind)>>2 == t.age {
			return e
		}
	}
	return nil
}

// slot returns the number of the first of a key's two entries.
func (t *table) slot(key uint64) uint64 {
	if t.shift == 64 {
		return 0
	}
	return key >> t.shift << 1
}

func (t *table) store(key uint64, depth int, score int32, move rules.Move, kind boundKind) {
	if len(t.entries) == 0 {
		return
	}
	i := t.slot(key)
	e := &t.entries[i]
	if uint8(e.kind)>>2 == t.age && e.key != key && int(e.depth) > depth {
		e = &t.entries[i+1]
	}
	*e = entry{key, score, move, int8(depth), kind | boundKind(t.age<<2)}
}
