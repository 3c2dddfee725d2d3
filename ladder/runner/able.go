package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
)

// maxKnown is how many versions are remembered, some 500 bytes each. Of more all are forgotten.
const maxKnown = 100_000

// abilities remembers versions, and which machines can play them.
type abilities struct {
	versions map[int64]ladder.Version
	missing  map[string]map[int64]string // by class of machines and version; "" where nothing is, or notKnown
	told     map[int64]string            // what no machine has, as it was told
	since    map[int64]time.Time         // when it was first seen that no machine can play a version
	classes  []string                    // of the machines that get jobs
	sample   map[string]fleet.Machine    // one of each class
}

func newAbilities() abilities {
	return abilities{versions: map[int64]ladder.Version{}, missing: map[string]map[int64]string{}, told: map[int64]string{}, since: map[int64]time.Time{}}
}

// notKnown stands for what a version needs while its files do not stand here.
const notKnown = "what it needs is not known"

// patience is how long no machine could play a version before its owner is told: a worker may have
// been started anew.
const patience = time.Minute

// classOf names what a machine can play: machines of one class can play the same.
func classOf(m fleet.Machine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%t %s %s %s %s", m.Local, m.OS, m.Arch, m.Sandbox, m.Version)
	for _, name := range slices.Sorted(maps.Keys(m.Interpreters)) {
		fmt.Fprintf(&b, " %s=%s", name, m.Interpreters[name])
	}
	return b.String()
}

// changed takes in what machines there are.
func (a *abilities) changed(machines []*machine) {
	a.sample = map[string]fleet.Machine{}
	for _, m := range machines {
		if m.gets() {
			a.sample[m.class] = m.Machine
		}
	}
	a.classes = slices.Sorted(maps.Keys(a.sample))
	maps.DeleteFunc(a.missing, func(class string, _ map[int64]string) bool { return a.sample[class].Name == "" })
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

// missing returns what machines of a class lack that a version needs; "" where they can play it, or
// notKnown.
func (r *Runner) missing(ctx context.Context, class string, id int64) (string, error) {
	known := r.able.missing[class]
	if known == nil {
		known = map[int64]string{}
		r.able.missing[class] = known
	}
	if text, ok := known[id]; ok {
		return text, nil
	}
	v, err := r.version(ctx, id)
	if err != nil {
		return "", err
	}
	lacks, sure := r.Missing(v, r.able.sample[class])
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

// canPlay reports whether a machine can play a version. Remote ones are connected to the server,
// and play on its own machine.
func (r *Runner) canPlay(ctx context.Context, m *machine, id int64, remote bool) bool {
	able, doubt := r.ableTo(ctx, m, id, remote)
	if doubt {
		r.nameUnplayable(ctx, id)
	}
	return able
}

// ableTo is canPlay for who tells later of versions that no machine can play: doubt says that this
// may be one, or have been.
func (r *Runner) ableTo(ctx context.Context, m *machine, id int64, remote bool) (able, doubt bool) {
	if remote || r.Missing == nil {
		return m.Local || !remote, false
	}
	missing, err := r.missing(ctx, m.class, id)
	able = err == nil && (missing == "" || missing == notKnown && m.Local)
	return able, !able || r.able.told[id] != "" || r.able.versions[id].Unplayable != ""
}

// nameUnplayable tells of a version that no machine can play what is missing, once, and when one can
// play it again: its owner, and the operator.
func (r *Runner) nameUnplayable(ctx context.Context, id int64) {
	v, err := r.version(ctx, id)
	if err != nil || len(r.able.classes) == 0 {
		return
	}
	told, ok := r.able.told[id]
	if !ok {
		told = v.Unplayable // by an earlier server
	}
	text := r.lacking(ctx, id)
	since, seen := r.able.since[id]
	switch now := r.Now(); {
	case text == told:
		delete(r.able.since, id)
		return
	case text != "" && !seen:
		r.able.since[id] = now
		return
	case text != "" && now.Sub(since) < patience:
		return
	}
	delete(r.able.since, id)
	if err := r.Store.SetUnplayable(ctx, id, text); err != nil {
		r.Log.Error("telling of a version that cannot be played", "version", id, "err", err)
		return
	}
	r.able.told[id] = text
	n := 0
	for _, text := range r.able.told {
		if text != "" {
			n++
		}
	}
	r.metrics.unplayable.Set(float64(n))
	if text == "" {
		r.Log.Info("a version can be played again", "version", id, "bot", v.Bot, "number", v.Number)
		return
	}
	r.Log.Warn("no machine can play a version", "version", id, "bot", v.Bot, "number", v.Number, "missing", text)
}

// lacking returns what no machine has that a version needs; "" where one can play it, or may.
func (r *Runner) lacking(ctx context.Context, id int64) string {
	var lacks []string
	for _, class := range r.able.classes {
		text, err := r.missing(ctx, class, id)
		if err != nil || text == "" || text == notKnown {
			return ""
		}
		lacks = append(lacks, text)
	}
	slices.Sort(lacks)
	return strings.Join(slices.Compact(lacks), "; ")
}
