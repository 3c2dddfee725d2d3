package runner

import (
	"fmt"
	"maps"
	"time"
)

// After a failure a thing is not tried for a while: first for minBackoff, then twice
// as long after each further failure, up to maxBackoff.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute

	backoffMemory = time.Hour
)

// backoff is that of one thing. The zero value: it has not failed.
type backoff struct {
	failures int // one after another
	until    time.Time
}

// recordFailure counts a failure and returns the end of the backoff.
func (b *backoff) recordFailure(now time.Time) time.Time {
	b.until = now.Add(min(minBackoff<<min(b.failures, 16), maxBackoff))
	b.failures++
	return b.until
}

// isBackingOff reports whether the backoff goes on.
func (b *backoff) isBackingOff(now time.Time) bool { return now.Before(b.until) }

// backoffs has the backoff of each thing that failed, by name.
type backoffs map[string]*backoff

// recordFailure counts a failure of a thing. Those are forgotten whose backoff ended long ago: a match that was dropped never
// works.
func (b backoffs) recordFailure(name string, now time.Time) {
	maps.DeleteFunc(b, func(_ string, e *backoff) bool { return now.Sub(e.until) > backoffMemory })
	if b[name] == nil {
		b[name] = &backoff{}
	}
	b[name].recordFailure(now)
}

// reset forgets the failures of a thing.
func (b backoffs) reset(name string) { delete(b, name) }

// isBackingOff reports whether a thing has a backoff now.
func (b backoffs) isBackingOff(name string, now time.Time) bool {
	return b[name] != nil && b[name].isBackingOff(now)
}

// nextEnd returns when the first backoff ends; zero when there is none.
func (b backoffs) nextEnd(now time.Time) (first time.Time) {
	for _, e := range b {
		if e.isBackingOff(now) {
			first = earliest(first, e.until)
		}
	}
	return first
}

// earliest returns the earlier of two times; zero stands for never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func versionName(id int64) string   { return fmt.Sprintf("version %d", id) }
func matchName(id int64) string     { return fmt.Sprintf("match %d", id) }
func ladderName(name string) string { return "ladder " + name }

// versionOnMachine names a version on another machine, which alone says that it failed.
func versionOnMachine(id int64, machine string) string {
	return fmt.Sprintf("version %d on %s", id, machine)
}
