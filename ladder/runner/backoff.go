package runner

import (
	"fmt"
	"maps"
	"time"
)

// After a failure of a version, a match, a ladder, a machine or the server, the runner does not try it again for
// minBackoff. Each further failure doubles that time, up to maxBackoff.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute

	// backoffMemory is the time without a failure after which earlier failures of a version, a match or a ladder
	// do not count. Those of a machine or the server count until its next success.
	backoffMemory = time.Hour
)

// backoff counts the failures of a version, a match, a ladder, a machine or the server, and says when to try it
// again. The zero value means no failures.
type backoff struct {
	failures int // since the last success
	until    time.Time
}

// recordFailure counts a failure and returns the time before which there must be no new try.
func (b *backoff) recordFailure(now time.Time) time.Time {
	b.until = now.Add(min(minBackoff<<min(b.failures, 16), maxBackoff))
	b.failures++
	return b.until
}

func (b *backoff) isBackingOff(now time.Time) bool { return now.Before(b.until) }

// backoffs has a backoff for each version, match, ladder or machine that failed. The keys come from versionName
// and similar functions.
type backoffs map[string]*backoff

// recordFailure counts a failure of name, such as a version or a machine. It also removes all entries whose
// backoff ended more than backoffMemory ago.
func (b backoffs) recordFailure(name string, now time.Time) {
	maps.DeleteFunc(b, func(_ string, e *backoff) bool { return now.Sub(e.until) > backoffMemory })
	if b[name] == nil {
		b[name] = &backoff{}
	}
	b[name].recordFailure(now)
}

func (b backoffs) reset(name string) { delete(b, name) }

// isBackingOff reports whether name, such as a version or a machine, must not be tried yet.
func (b backoffs) isBackingOff(name string, now time.Time) bool {
	return b[name] != nil && b[name].isBackingOff(now)
}

// nextEnd returns the earliest time after now at which something may be tried again, or the zero time if nothing has
// to wait.
func (b backoffs) nextEnd(now time.Time) (first time.Time) {
	for _, e := range b {
		if e.isBackingOff(now) {
			first = earliest(first, e.until)
		}
	}
	return first
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// versionName, matchName and ladderName return the keys of things in backoffs.
func versionName(id int64) string   { return fmt.Sprintf("version %d", id) }
func matchName(id int64) string     { return fmt.Sprintf("match %d", id) }
func ladderName(name string) string { return "ladder " + name }

// versionOnMachine returns the key of the backoff for a version on the given machine.
func versionOnMachine(id int64, machine string) string {
	return fmt.Sprintf("version %d on %s", id, machine)
}
