package fleet

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// Jobs that a machine leaves do not fill the memory, and not that of others.
func TestJobsKept(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	jobs, err := a.link.js.Stream(t.Context(), jobsStream)
	a.must(err)
	_, err = a.link.js.Publish(t.Context(), jobsSubject("victim"), []byte("x"))
	a.must(err)
	for range MaxJobs + 1 {
		_, err := a.link.js.Publish(t.Context(), jobsSubject("evil"), []byte("x"))
		a.must(err)
	}
	info, err := jobs.Info(t.Context(), jetstream.WithSubjectFilter(jobsSubject("*")))
	a.must(err)
	if got, others := info.State.Subjects[jobsSubject("evil")], info.State.Subjects[jobsSubject("victim")]; got != MaxJobs || others != 1 {
		t.Errorf("%d jobs of a machine are kept, and %d of another", got, others)
	}
	if c := info.Config; c.MaxAge != KeepJobs || c.MaxBytes != MaxJobBytes {
		t.Errorf("jobs are kept for %s, in %d bytes", c.MaxAge, c.MaxBytes)
	}
	if KeepJobs < 2*AckTime || KeepJobs > inactive {
		t.Errorf("jobs are kept for %s", KeepJobs)
	}
}
