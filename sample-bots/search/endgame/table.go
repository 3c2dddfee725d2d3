package endgame

// entry is what is known of the rest of a position: how the margin will change to the end.
type entry struct {
	key          uint64
	change       int16
	isLowerBound bool // the margin changes by at least so much
	isUpperBound bool // the margin changes by at most so much; with least, by exactly so much
}

const entrySize = 16

// table keeps the last position of each place.
type table []entry

// newTable returns a table of at most so many bytes.
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

// find returns the entry of a key, nil if it has none.
func (t table) find(key uint64) *entry {
	if len(t) == 0 {
		return nil
	}
	if e := &t[key&uint64(len(t)-1)]; e.key == key {
		return e
	}
	return nil
}

// store keeps how the margin changes: by at least so much, by at most so much, or both.
func (t table) store(key uint64, change int32, least, most bool) {
	if len(t) > 0 {
		t[key&uint64(len(t)-1)] = entry{key, int16(change), least, most}
	}
}

// cutoff returns the margin at the end if the entry decides a search from a margin.
func (e *entry) cutoff(now, alpha, beta int32) (int32, bool) {
	v := now + int32(e.change)
	return v, e.isLowerBound && e.isUpperBound || e.isLowerBound && v >= beta || e.isUpperBound && v <= alpha
}
