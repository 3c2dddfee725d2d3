package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
)

// maxKnown is how many versions are remembered, some 500 bytes each. Of more all are forgotten.
const maxKnown = 100_000

// abilities remembers versions, and who is to be told that no machine can play theirs.
type abilities struct {
	versions map[int64]remembered
	looked   time.Time        // when it was last looked for versions that no machine can play
	lacking  map[int64]string // what those lacked then that nobody has been told of
}

// remembered is a version that is remembered. What one needs that does not stand is what its last build needed: it is
// built again on this machine, before it can play on another.
type remembered struct {
	ladder.Version
	standing bool
}

// classOf names what a machine can play: machines of one class can play the same.
func classOf(m attempt.Machine) string {
	// Maps are written in the order of their keys.
	return fmt.Sprintf("%t %s %s %s %s %v", m.Local, m.OS, m.Arch, m.Sandbox, m.Version, m.Interpreters)
}

// version returns a version that has been built, of which nothing but its state changes while its build stands.
func (r *Runner) version(ctx context.Context, id int64) (remembered, error) {
	v, ok := r.able.versions[id]
	if ok && (v.standing || !r.Standing(v.Version)) {
		return v, nil
	}
	var err error
	if v.Version, err = r.Store.Version(ctx, id); err != nil {
		return v, err
	}
	v.standing = v.Remote || r.Standing(v.Version)
	if len(r.able.versions) >= maxKnown {
		clear(r.able.versions)
	}
	r.able.versions[id] = v
	return v, nil
}

// lacks returns what a machine does not have that a version needs; "" where it can play it.
func (r *Runner) lacks(m *machine, v remembered) string {
	n := v.Needs
	if m.Local { // it may start 32-bit programs
		if n.Arch == "386" || n.Arch == "arm" {
			n.Arch = ""
		}
		n.Interpreters = slices.DeleteFunc(slices.Clone(n.Interpreters), r.Finds)
	}
	return m.Lacks(n)
}

// canPlay reports whether a machine has what a version needs.
func (r *Runner) canPlay(ctx context.Context, m *machine, id int64) bool {
	v, err := r.version(ctx, id)
	if err != nil || !v.standing {
		return err == nil && m.Local
	}
	return r.lacks(m, v) == ""
}

// patience is how long no machine could play a version before its owner is told: a worker may have
// been started anew.
const patience = time.Minute

// tellUnplayable tells of the versions that no machine has been able to play for a while, and of those that
// one can play again: their owners, and the operator.
func (r *Runner) tellUnplayable(ctx context.Context) {
	a, now := &r.able, r.Now()
	if now.Sub(a.looked) < patience {
		return
	}
	machines := r.placement.classes()
	if len(machines) == 0 {
		return
	}
	before := a.lacking
	a.looked, a.lacking = now, map[int64]string{}
	unplayable := 0
	for id, v := range a.versions {
		switch text := r.lacking(machines, v); {
		case text == v.Unplayable:
		case text != "" && text != before[id]:
			a.lacking[id] = text
		default:
			r.tellOf(ctx, v, text)
		}
		if a.versions[id].Unplayable != "" {
			unplayable++
		}
	}
	r.metrics.unplayable.Set(float64(unplayable))
}

// looksAgain returns when it is known who is to be told; zero when nobody may have to be.
func (a *abilities) looksAgain() (at time.Time) {
	if len(a.lacking) > 0 {
		at = a.looked.Add(patience)
	}
	return at
}

// lacking returns what no machine has that a version needs; "" where one can play it.
func (r *Runner) lacking(machines map[string]*machine, v remembered) string {
	var lacks []string
	for _, m := range machines {
		text := r.lacks(m, v)
		if text == "" || !v.standing && m.Local {
			return ""
		}
		lacks = append(lacks, text)
	}
	slices.Sort(lacks)
	return strings.Join(slices.Compact(lacks), "; ")
}

// tellOf tells what no machine has that a version needs; "": it can be played again.
func (r *Runner) tellOf(ctx context.Context, v remembered, missing string) {
	if now, err := r.Store.Version(ctx, v.ID); err != nil || now.State != ladder.Live {
		return
	}
	if err := r.Store.SetUnplayable(ctx, v.ID, missing); err != nil {
		r.Log.Error("telling of a version that cannot be played", "version", v.ID, "err", err)
		return
	}
	v.Unplayable = missing
	r.able.versions[v.ID] = v
	if missing == "" {
		r.Log.Info("a version can be played again", "version", v.ID, "bot", v.Bot, "number", v.Number)
		return
	}
	r.Log.Warn("no machine can play a version", "version", v.ID, "bot", v.Bot, "number", v.Number, "missing", missing)
}
