package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
)

// errEarly ends a match in which a connection was lost. Its games count.
var errEarly = errors.New("a connection was lost")

// busyOrAway reports whether a remote version cannot begin a match now: it is not
// connected, or plays. It plays one match at a time, like a core here.
func (r *Runner) busyOrAway(version int64) bool {
	if _, away := r.Away(version); away {
		return true
	}
	for _, j := range r.taken {
		if j.match != nil && slices.Contains(j.match.Versions, version) {
			return true
		}
	}
	j := r.memory.head
	return j != nil && j.match != nil && slices.Contains(j.match.Versions, version)
}

// giveUp drops rated matches that wait for a remote version which does not come back: its
// opponents would not be chosen for others meanwhile.
func (r *Runner) giveUp(ctx context.Context, waiting []ladder.Match) {
	for i := range waiting {
		m := &waiting[i]
		if !m.Rated || m.State != ladder.Waiting || r.taken[m.ID] != nil {
			continue
		}
		for slot, v := range m.Versions {
			if !m.Remote[slot] {
				continue
			}
			if since, away := r.Away(v); away && r.Now().Sub(since) > r.Comeback {
				r.cancel(ctx, m, fmt.Sprintf("cancelled: version %d of %s is not connected", m.Numbers[slot], m.Bots[slot]))
				m.State = ladder.Dropped
				break
			}
		}
	}
}

// lostConnection reports whether a game was lost with a connection.
func lostConnection(g *referee.Game) bool {
	return slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Reason.Kind == fault.ConnectionLost })
}
