package runner

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// A runner remembers maxKnown versions; with one more it forgets the others, and what machines lack
// for them.
func TestVersionsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	r := w.idle(1, nil)
	want := w.bot("late", script(""))
	for id := int64(1); id < maxKnown; id++ {
		r.able.versions[-id] = ladder.Version{}
	}
	ids := []int64{want.ID, w.bot("later", script("")).ID}
	for i, known := range []int{maxKnown, 1} {
		r.able.missing["class"] = map[int64]string{-1: "python3"}
		v := kit.Get[ladder.Version](t)(r.version(t.Context(), ids[i]))
		if v.ID != ids[i] || len(r.able.versions) != known {
			t.Errorf("version %d: it is %d, and %d are known, want %d", ids[i], v.ID, len(r.able.versions), known)
		}
		if kept := len(r.able.missing) > 0; kept != (known > 1) {
			t.Errorf("version %d: what machines lack is kept: %t", ids[i], kept)
		}
	}
}
