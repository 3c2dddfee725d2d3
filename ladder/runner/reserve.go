package runner

// reserve hands out memory. What comes next is chosen first and reserved then: where it
// does not fit beside what is handed out it waits, and all behind it, so that nothing
// that is small keeps what is large waiting for ever. What never fits has to be refused
// before.
type reserve[T comparable] struct {
	total int64 // 0: as much as is wanted
	used  int64
	head  T // what waits; zero: nothing does
	need  int64
}

// next returns what is to begin now, with its memory reserved; zero when there is
// nothing, or it does not fit yet. choose is asked for it, and for the memory that it
// needs, while nothing waits.
func (r *reserve[T]) next(choose func() (T, int64, error)) (T, error) {
	var none T
	if r.head == none {
		next, need, err := choose()
		if err != nil || next == none {
			return none, err
		}
		r.head, r.need = next, need
	}
	if r.total > 0 && r.used+r.need > r.total {
		return none, nil
	}
	next := r.head
	r.used += r.need
	r.drop()
	return next, nil
}

// drop forgets what waits.
func (r *reserve[T]) drop() {
	var none T
	r.head, r.need = none, 0
}

// release takes memory back.
func (r *reserve[T]) release(memory int64) { r.used -= memory }
