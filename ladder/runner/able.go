package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
)

// maxKnown is how many versions are remembered, some 500 bytes each. Of more all are forgotten.
const maxKnown = 100_000

// abilities remembers versions, and which machines can play them.
type abilities struct {
	versions map[int64]ladder.Version
	missing  map[string]map[int64]string // by class of machines and version; "" where nothing is, or notKnown
	looked   time.Time                   // when it was last looked for versions that no machine can play
	lacking  map[int64]string            // what those lacked then that nobody has been told of
}

func newAbilities() abilities {
	return abilities{versions: map[int64]ladder.Version{}, missing: map[string]map[int64]string{}}
}

// notKnown stands for what a version needs while its files do not stand here.
const notKnown = "what it needs is not known"

// classOf names what a machine can play: machines of one class can play the same.
func classOf(m attempt.Machine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%t %s %s %s %s", m.Local, m.OS, m.Arch, m.Sandbox, m.Version)
	for _, name := range slices.Sorted(maps.Keys(m.Interpreters)) {
		fmt.Fprintf(&b, " %s=%s", name, m.Interpreters[name])
	}
	return b.String()
}

// version returns a version that has been built, of which nothing but its state changes any more.
func (r *Runner) version(ctx context.Context, id int64) (ladder.Version, error) {
	if v, ok := r.able.versions[id]; ok {
		return v, nil
	}
	v, err := r.Store.Version(ctx, id)
	if err != nil {
		return v, err
	}
	if len(r.able.versions) >= maxKnown {
		clear(r.able.versions)
		clear(r.able.missing)
	}
	r.able.versions[id] = v
	return v, nil
}

// missing returns what a machine lacks that a version needs; "" where it can play it, or
// notKnown.
func (r *Runner) missing(ctx context.Context, m *machine, id int64) (string, error) {
	known := r.able.missing[m.class]
	if known == nil {
		known = map[int64]string{}
		r.able.missing[m.class] = known
	}
	if text, ok := known[id]; ok {
		return text, nil
	}
	v, err := r.version(ctx, id)
	if err != nil {
		return "", err
	}
	lacks, sure := r.Missing(v, m.Machine)
	if !sure {
		lacks = notKnown
	}
	known[id] = lacks
	return lacks, nil
}

// built makes the runner ask again for what was not known of versions that were played here.
func (a *abilities) built(versions []int64) {
	for _, missing := range a.missing {
		for _, id := range versions {
			if missing[id] == notKnown {
				delete(missing, id)
			}
		}
	}
}

// canPlay reports whether a machine has what a version needs. One whose needs are not known is for this
// machine, which builds it again.
func (r *Runner) canPlay(ctx context.Context, m *machine, id int64) bool {
	if r.Missing == nil {
		return true
	}
	missing, err := r.missing(ctx, m, id)
	return err == nil && (missing == "" || missing == notKnown && m.Local)
}

// patience is how long no machine could play a version before its owner is told: a worker may have
// been started anew.
const patience = time.Minute

// tellUnplayable tells of the versions that no machine has been able to play for a while, and of those that
// one can play again: their owners, and the operator.
func (r *Runner) tellUnplayable(ctx context.Context) {
	a, now := &r.able, r.Now()
	if r.Missing == nil || now.Sub(a.looked) < patience {
		return
	}
	machines := r.placement.classes()
	if len(machines) == 0 {
		return
	}
	maps.DeleteFunc(a.missing, func(class string, _ map[int64]string) bool { return machines[class] == nil })
	before, here := a.lacking, r.placement.local().class
	a.looked, a.lacking = now, map[int64]string{}
	unplayable := 0
	for id, v := range a.versions {
		text := ""
		if v.Unplayable != "" || a.missing[here][id] != "" { // where this machine lacks nothing, it plays
			text = r.lacking(ctx, machines, id)
		}
		switch {
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

// lacking returns what no machine has that a version needs; "" where one can play it, or may.
func (r *Runner) lacking(ctx context.Context, machines map[string]*machine, id int64) string {
	var lacks []string
	for _, m := range machines {
		text, err := r.missing(ctx, m, id)
		if err != nil || text == "" || text == notKnown {
			return ""
		}
		lacks = append(lacks, text)
	}
	slices.Sort(lacks)
	return strings.Join(slices.Compact(lacks), "; ")
}

// tellOf tells what no machine has that a version needs; "": it can be played again.
func (r *Runner) tellOf(ctx context.Context, v ladder.Version, missing string) {
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
