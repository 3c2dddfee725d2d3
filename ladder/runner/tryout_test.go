package runner

import (
	"context"
	"slices"
	"testing"
	"time"
)

// Tryouts take turns with submissions, have a core and their memory as those have, and a person has one of both at
// the same time.
func TestTryouts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	ben := w.Person("ben", false)
	waiting := []int64{w.person.ID, ben.ID}
	now, ran := time.Now(), 0
	r := w.idle(4, func(o *Options) {
		o.Now = func() time.Time { return now }
		o.Submit = func(context.Context, int64, int) error { return nil }
		o.Ladders = nil
		o.Tryout = func(busy []int64) *Tryout {
			for _, owner := range waiting {
				if !slices.Contains(busy, owner) {
					return &Tryout{Owner: owner, Memory: 5, Run: func(context.Context, int) { ran++ }}
				}
			}
			return nil
		}
	})
	v := w.Submit(w.person.ID, "annas", hashOf("annas"))
	jobs := r.choose(t.Context())
	if len(jobs) != 2 || jobs[0].tryout == nil || jobs[0].owner != w.person.ID || jobs[0].memory != 5 || jobs[1].tryout == nil || jobs[1].owner != ben.ID {
		t.Fatalf("the jobs are %+v", jobs)
	}
	if jobs[0].id() == jobs[1].id() || r.cancelled(t.Context(), jobs[0]) {
		t.Error("they are taken for one another, or for a version")
	}
	if o := r.work(t.Context(), jobs[0]); ran != 1 || o.took == 0 {
		t.Errorf("it ran %d times, for %s", ran, o.took)
	}
	for _, j := range jobs {
		r.giveBack(j, time.Second)
	}
	jobs = r.choose(t.Context())
	if len(jobs) != 2 || jobs[0].version != v.ID || jobs[1].tryout == nil || jobs[1].owner != ben.ID {
		t.Errorf("then they are %+v", jobs)
	}
}
