package runner

import (
	"context"
	"fmt"

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
	// Changed receives after versions have become ready.
	Changed() <-chan struct{}
}

// reserve reserves the remote versions of a match; false: one of them has left meanwhile.
func (r *Runner) reserve(m *ladder.Match) bool {
	for i, v := range m.Versions {
		if m.Remote[i] && !r.Remotes.Reserve(v) {
			r.releaseRemotes(m, i)
			return false
		}
	}
	return true
}

// releaseRemotes ends the reservations of the first slots of a match.
func (r *Runner) releaseRemotes(m *ladder.Match, slots int) {
	for i, v := range m.Versions[:slots] {
		if m.Remote[i] {
			r.Remotes.Release(v)
		}
	}
}

// letGo ends the reservations of a job.
func (r *Runner) letGo(j *job) {
	if j.match != nil && !j.awaited {
		r.releaseRemotes(j.match, len(j.match.Versions))
	}
}

// giveUp drops rated matches that wait for a remote version which does not come back: its
// opponents would not be chosen for others meanwhile.
func (r *Runner) giveUp(ctx context.Context, waiting []*ladder.Match) {
	for _, m := range waiting {
		if !m.Rated || m.State != ladder.Waiting || r.taken[m.ID] != nil {
			continue
		}
		for slot, v := range m.Versions {
			if m.Remote[slot] && r.Remotes.Gone(v) {
				r.cancel(ctx, m, fmt.Sprintf("cancelled: version %d of %s is not connected", m.Numbers[slot], m.Bots[slot]))
				m.State = ladder.Dropped
				break
			}
		}
	}
}
