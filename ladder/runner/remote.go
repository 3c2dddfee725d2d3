package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder"
)

// busyOrAway reports whether a remote version cannot begin a match now: it is not
// connected, or plays. It plays one match at a time, like a core here.
func (r *Runner) busyOrAway(version int64) bool {
	_, away := r.Away(version)
	return away || r.busy(version)
}

// busy reports whether a version plays, or is about to.
func (r *Runner) busy(version int64) bool {
	plays := func(j *job) bool { return j.match != nil && slices.Contains(j.match.Versions, version) }
	for _, j := range r.taken {
		if plays(j) {
			return true
		}
	}
	for j := range r.fresh {
		if plays(j) {
			return true
		}
	}
	return slices.ContainsFunc(r.heads(), plays)
}

// idler waits until a version plays no more.
type idler struct {
	ctx     context.Context
	version int64
	idle    chan struct{}
}

// AwaitIdle returns when a version plays no match and none is about to begin. It is for a remote
// version that Options.Away reports already, so that none begins afterwards. An error is that of
// the context.
func (r *Runner) AwaitIdle(ctx context.Context, version int64) error {
	w := idler{ctx, version, make(chan struct{})}
	select {
	case r.idlers <- w:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-w.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tellIdle tells those who wait for versions that play no more.
func (r *Runner) tellIdle() {
	r.waitIdle = slices.DeleteFunc(r.waitIdle, func(w idler) bool {
		if w.ctx.Err() != nil {
			return true
		}
		if r.busy(w.version) {
			return false
		}
		close(w.idle)
		return true
	})
}

// giveUp drops rated matches that wait for a remote version which does not come back: its
// opponents would not be chosen for others meanwhile.
func (r *Runner) giveUp(ctx context.Context, waiting []*ladder.Match) {
	for _, m := range waiting {
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
