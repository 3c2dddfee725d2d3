package runner

import (
	"fmt"
	"maps"
	"time"
)

// After a failure a thing is not tried again for minBackoff, and for twice as long after each further failure,
// up to maxBackoff.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute

	backoffMemory = time.Hour
)

// backoff counts the failures of one thing and says when it may be tried again. Its zero value has no failures.
type backoff struct {
	failures int // since the last success
	until    time.Time
}

// recordFailure counts a failure and returns the end of the backoff.
func (b *backoff) recordFailure(now time.Time) time.Time {
	b.until = now.Add(min(minBackoff<<min(b.failures, 16), maxBackoff))
	b.failures++
	return b.until
}

// isBackingOff reports whether the backoff has not ended yet.
func (b *backoff) isBackingOff(now time.Time) bool { return now.Before(b.until) }

// backoffs has the backoff of each thing that failed. The key names the thing; see versionName.
type backoffs map[string]*backoff

// recordFailure counts a failure of a thing. It forgets the things whose backoff ended more than backoffMemory ago.
func (b backoffs) recordFailure(name string, now time.Time) {
	maps.DeleteFunc(b, func(_ string, e *backoff) bool { return now.Sub(e.until) > backoffMemory })
	if b[name] == nil {
		b[name] = &backoff{}
	}
	b[name].recordFailure(now)
}

func (b backoffs) reset(name string) { delete(b, name) }

// isBackingOff reports whether a thing must not be tried now.
func (b backoffs) isBackingOff(name string, now time.Time) bool {
	return b[name] != nil && b[name].isBackingOff(now)
}

// nextEnd returns when the first of the current backoffs ends, or zero if there is none.
func (b backoffs) nextEnd(now time.Time) (first time.Time) {
	for _, e := range b {
		if e.isBackingOff(now) {
			first = earliest(first, e.until)
		}
	}
	return first
}

// earliest returns the earlier of two times. Zero stands for never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func versionName(id int64) string   { return fmt.Sprintf("version %d", id) }
func matchName(id int64) string     { return fmt.Sprintf("match %d", id) }
func ladderName(name string) string { return "ladder " + name }

// versionOnMachine returns the key for a version that failed on another machine and nowhere else.
func versionOnMachine(id int64, machine string) string {
	return fmt.Sprintf("version %d on %s", id, machine)
}
