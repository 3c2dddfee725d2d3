package runner

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// tryouts is a source of one endless try-out for each of some people.
type tryouts struct {
	people []int64
	run    func(context.Context, int)
}

func (s *tryouts) Next(_ context.Context, c Core) (Job, error) {
	for _, owner := range s.people {
		if !slices.Contains(c.BusyOwners, owner) {
			return &TryoutJob{Owner: owner, Memory: 5, Run: s.run}, nil
		}
	}
	return nil, nil
}

func (s *tryouts) RecordStart(Job) {}

// isTryout reports whether a job is a try-out of a person.
func isTryout(a *assignment, owner ladder.Person) bool {
	t, ok := a.job.(*TryoutJob)
	return ok && t.Owner == owner.ID
}

// Try-outs take turns with submissions, have a core and memory like these, and each person has one of both at
// a time.
func TestTryouts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	ben := w.AddPerson("ben", false)
	waiting := []int64{w.person.ID, ben.ID}
	now, ran := time.Now(), 0
	r := w.newRunner(4, func(o *runnerParts) {
		o.Now = func() time.Time { return now }
		o.submit = func(context.Context, int64, int) error { return nil }
		o.Ladders = nil
		o.tryouts = &tryouts{people: waiting, run: func(context.Context, int) { ran++ }}
	})
	v := w.Submit(w.person.ID, "annas", hashOf("annas"))
	jobs := r.chooseJobs(t.Context())
	if len(jobs) != 2 || !isTryout(jobs[0], w.person) || jobs[0].job.memory() != 5 || !isTryout(jobs[1], ben) {
		t.Fatalf("the jobs are %+v", jobs)
	}
	if jobs[0].job.isCancelled(t.Context(), NewStore(w.Store)) {
		t.Error("it is taken for a version that has failed")
	}
	if o := r.work(t.Context(), jobs[0]); ran != 1 || o.took == 0 {
		t.Errorf("it ran %d times, for %s", ran, o.took)
	}
	for _, j := range jobs {
		r.releaseJob(j, time.Second)
	}
	jobs = r.chooseJobs(t.Context())
	if len(jobs) != 2 || !isTryout(jobs[1], ben) {
		t.Fatalf("then they are %+v", jobs)
	}
	if s, ok := jobs[0].job.(*submission); !ok || s.ID != v.ID {
		t.Errorf("then the first is %+v", jobs[0].job)
	}
}
