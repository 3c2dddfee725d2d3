package runner

import "time"

// What failed is left alone for a while: the first time for minRest, then twice
// as long each time that it fails again, up to maxRest.
const (
	minRest = time.Second
	maxRest = time.Minute
)

// rests are the things that are left alone, by a name.
type rests map[string]*rest

type rest struct {
	failures int // one after another
	until    time.Time
}

// failed lets a thing rest and says until when.
func (r rests) failed(name string, now time.Time) time.Time {
	e := r[name]
	if e == nil {
		e = &rest{}
		r[name] = e
	}
	e.until = now.Add(min(minRest<<min(e.failures, 16), maxRest))
	e.failures++
	return e.until
}

// worked forgets the failures of a thing.
func (r rests) worked(name string) { delete(r, name) }

// resting tells whether a thing is left alone now.
func (r rests) resting(name string, now time.Time) bool {
	e := r[name]
	return e != nil && now.Before(e.until)
}

// next is when the next rest of any is over; zero when none rests.
func (r rests) next(now time.Time) (first time.Time) {
	for _, e := range r {
		if now.Before(e.until) && (first.IsZero() || e.until.Before(first)) {
			first = e.until
		}
	}
	return first
}
