package runner

import "time"

// After a failure a thing is not tried for a while: first for minBackoff, then twice
// as long after each further failure, up to maxBackoff.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// backoffs has the backoff of each thing that failed, by name.
type backoffs map[string]*backoff

type backoff struct {
	failures int // one after another
	until    time.Time
}

// failed counts a failure of a thing and returns the end of its backoff.
func (b backoffs) failed(name string, now time.Time) time.Time {
	e := b[name]
	if e == nil {
		e = &backoff{}
		b[name] = e
	}
	e.until = now.Add(min(minBackoff<<min(e.failures, 16), maxBackoff))
	e.failures++
	return e.until
}

// worked forgets the failures of a thing.
func (b backoffs) worked(name string) { delete(b, name) }

// active reports whether a thing has a backoff now.
func (b backoffs) active(name string, now time.Time) bool {
	e := b[name]
	return e != nil && now.Before(e.until)
}

// next returns when the first backoff ends; zero when there is none.
func (b backoffs) next(now time.Time) (first time.Time) {
	for _, e := range b {
		if now.Before(e.until) && (first.IsZero() || e.until.Before(first)) {
			first = e.until
		}
	}
	return first
}
