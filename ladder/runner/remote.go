package runner

import (
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/match"
)

// Remotes are the versions that play over a connection to the server, one match at a time each.
type Remotes interface {
	// Bot returns a version as a program that plays a match.
	Bot(ladder.Version, *ladder.Match) match.Bot
	// Ready reports whether a version can begin a match.
	Ready(version int64) bool
	// Gone reports whether a version is away for longer than a match waits for it.
	Gone(version int64) bool
	// Reserve takes a version for a match, until Release. It reports false if the version is not ready.
	Reserve(version int64) bool
	Release(version int64)
	// Changed receives after versions have become ready or gone.
	Changed() <-chan struct{}
}

// reserve reserves the remote versions of a match; false: one of them has just left.
func (r *Runner) reserve(m *ladder.Match) bool {
	for slot, v := range m.Versions {
		if m.Remote[slot] && !r.Remotes.Reserve(v) {
			r.release(m, slot)
			return false
		}
	}
	return true
}

// release ends the reservations of the first slots of a match.
func (r *Runner) release(m *ladder.Match, slots int) {
	for slot, v := range m.Versions[:slots] {
		if m.Remote[slot] {
			r.Remotes.Release(v)
		}
	}
}
