package endgame

// entry says by how much the margin, the difference in points, changes from a position to the end of the game. The
// change may be only a bound.
type entry struct {
	key          uint64
	change       int16
	isLowerBound bool // the margin changes by at least change
	isUpperBound bool // the margin changes by at most change; if both are set, by exactly change
}

const entrySize = 16

// table has results of positions. It is a hash table by key. If several positions belong in the same slot, it has
// only the last one.
type table []entry

// newTable returns a table of at most the given size in bytes. If not even one entry fits, the table is empty.
func newTable(bytes int) table {
	n := 1
	for n*2*entrySize <= bytes {
		n *= 2
	}
	if n*entrySize > bytes {
		return nil
	}
	return make(table, n)
}

// find returns the entry with the given key, or nil if there is none.
func (t table) find(key uint64) *entry {
	if len(t) == 0 {
		return nil
	}
	if e := &t[key&uint64(len(t)-1)]; e.key == key {
		return e
	}
	return nil
}

// store stores by how much the margin of a position changes until the end of the game: by at least change if
// isLowerBound is set, by at most change if isUpperBound is set, and by exactly change if both are set.
func (t table) store(key uint64, change int32, isLowerBound, isUpperBound bool) {
	if len(t) > 0 {
		t[key&uint64(len(t)-1)] = entry{key, int16(change), isLowerBound, isUpperBound}
	}
}

// cutoff returns the margin at the end of the game, or a bound on it, that e implies for a position whose current
// margin is the argument now. The bool reports whether this value suffices for a search between alpha and beta.
func (e *entry) cutoff(now, alpha, beta int32) (int32, bool) {
	v := now + int32(e.change)
	return v, e.isLowerBound && e.isUpperBound || e.isLowerBound && v >= beta || e.isUpperBound && v <= alpha
}
