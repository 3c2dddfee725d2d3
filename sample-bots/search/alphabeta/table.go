package alphabeta

import "github.com/timba-arena/timba/rules"

// boundKind says whether the score in a table entry is exact, a lower bound or an upper bound.
type boundKind uint8

const (
	exact boundKind = iota + 1
	lowerBound
	upperBound
)

// entry is the result of a search of one position, in 16 bytes. The score of a win depends on the number of moves
// from this position to the win.
type entry struct {
	key   uint64
	score int32
	move  rules.Move
	depth int8
	kind  boundKind // in the lower two bits; the upper six are the age of the table when the entry was stored
}

const entrySize = 16

// table is a transposition table of fixed size (Greenblatt, Eastlake and Crocker, "The Greenblatt Chess Program",
// 1967). There are two slots for each key. The first prefers results of deep searches, the second has the latest of
// the others.
type table struct {
	entries []entry
	shift   uint8
	age     uint8
}

const ages = 1 << 6

// newTable returns a table of at most the given size in bytes. If not even two entries fit, the table is empty.
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

// clear removes all entries. It changes the age of the table, so that entries of another age count as empty. Only
// one in 63 calls writes to the entries.
func (t *table) clear() {
	if t.age++; t.age == ages {
		clear(t.entries)
		t.age = 1
	}
}

// find returns the entry with the given key, or nil if there is none.
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

// slot returns the index of the first of the two slots for a key.
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
