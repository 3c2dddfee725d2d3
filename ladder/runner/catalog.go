package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
)

// maxKnownVersions is how many versions are remembered, some 500 bytes each. With one more all are forgotten.
const maxKnownVersions = 100_000

// catalog knows what versions need, and which machine can play one now.
type catalog struct {
	store      Store
	programs   Programs
	host       Host
	remotes    Remotes
	limits     Limits
	backoffs   backoffs
	versions   map[int64]knownVersion
	reportedAt time.Time             // when unplayable versions were last looked for
	unreported map[int64]phrase.Text // what no machine had then, by version, if its owner does not know yet
}

// knownVersion is a version that has been built. If it does not stand, its needs are those of its last build: this
// machine builds it again before another one can play it.
type knownVersion struct {
	ladder.Version
	hasBuild bool
}

// classOf names what a machine can play: machines of one class can play the same.
func classOf(m attempt.Machine) string {
	// Maps are written in the order of their keys.
	return fmt.Sprintf("%t %s %s %s %s %v", m.Local, m.OS, m.Arch, m.Sandbox, m.Version, m.Interpreters)
}

// version returns a version that has been built. While its build stands, nothing but its state changes.
func (c *catalog) version(ctx context.Context, id int64) (knownVersion, error) {
	v, ok := c.versions[id]
	if ok && (v.hasBuild || !c.programs.IsBuilt(v.Version)) {
		return v, nil
	}
	var err error
	if v.Version, err = c.store.Versions.Find(ctx, id); err != nil {
		return v, err
	}
	v.hasBuild = v.Remote || c.programs.IsBuilt(v.Version)
	if len(c.versions) >= maxKnownVersions {
		clear(c.versions)
	}
	c.versions[id] = v
	return v, nil
}

// missingNeeds returns what a version needs and a machine does not have, empty if the machine can play it.
func (c *catalog) missingNeeds(m *machine, v knownVersion) phrase.Text {
	n := v.Needs
	if m.Local { // it may start 32-bit programs
		if n.Arch == "386" || n.Arch == "arm" {
			n.Arch = ""
		}
		n.Interpreters = slices.DeleteFunc(slices.Clone(n.Interpreters), c.host.HasInterpreter)
	}
	return m.MissingNeeds(n)
}

// needsMissingEverywhere returns what a version needs and none of some machines has, empty if one of them can play it.
func (c *catalog) needsMissingEverywhere(machines map[string]*machine, v knownVersion) phrase.Text {
	var lacks []phrase.Text
	for _, m := range machines {
		text := c.missingNeeds(m, v)
		if text.IsZero() || !v.hasBuild && m.Local {
			return phrase.Text{}
		}
		lacks = append(lacks, text)
	}
	slices.SortFunc(lacks, func(a, b phrase.Text) int { return strings.Compare(a.String(), b.String()) })
	return phrase.Join("; ", slices.CompactFunc(lacks, phrase.Text.Equal)...)
}

// canPlay reports whether the machine of a core can play a version now.
func (c *catalog) canPlay(ctx context.Context, core Core, id int64, remote bool) bool {
	if len(c.backoffs) > 0 && (c.backoffs.isBackingOff(versionName(id), core.now) || c.backoffs.isBackingOff(versionOnMachine(id, core.Name), core.now)) {
		return false
	}
	if remote { // it is connected to the server
		return core.Local && c.remotes.IsReady(id)
	}
	v, err := c.version(ctx, id)
	if err != nil || !v.hasBuild {
		return err == nil && core.Local
	}
	return c.missingNeeds(core.machine, v).IsZero()
}

// roomOf returns the memory that the matches of a core's machine share.
func (c *catalog) roomOf(core Core) ladder.MemoryBudget {
	return ladder.MemoryBudget{Total: core.Memory, Bot: c.limits.Room.Bot}
}

// job returns a match as a job for the machine of a core.
func (c *catalog) job(ctx context.Context, m *ladder.Match, core Core) (*matchJob, error) {
	j := &matchJob{match: m}
	v, err := m.Variant()
	if err != nil {
		return j, nil // attempt.Play tells what is wrong
	}
	j.rotations, j.need = c.roomOf(core).ParallelRotations(v, m.HouseOrRemote(), max(1, len(core.Cores)))
	if !core.Local {
		return j, nil
	}
	build := c.limits.BuildMemory // or as much as there is
	if core.Memory > 0 {
		build = min(build, core.Memory)
	}
	for _, id := range m.Versions {
		v, err := c.version(ctx, id)
		if err != nil {
			return nil, err
		}
		if !v.Remote && !c.programs.IsBuilt(v.Version) {
			j.need = max(j.need, build)
		}
	}
	return j, nil
}

// reportDelay is how long no machine could play a version before its owner is told: a worker may have been started anew.
const reportDelay = time.Minute

// reportUnplayable tells owners and the operator which versions no machine has been able to play for a while, and
// which of these can be played again.
func (r *Runner) reportUnplayable(ctx context.Context) {
	c, now := r.catalog, r.Now()
	if now.Sub(c.reportedAt) < reportDelay {
		return
	}
	machines := r.placement.classes()
	if len(machines) == 0 {
		return
	}
	before := c.unreported
	c.reportedAt, c.unreported = now, map[int64]phrase.Text{}
	unplayable := 0
	for id, v := range c.versions {
		switch text := c.needsMissingEverywhere(machines, v); {
		case text.Equal(v.Unplayable):
		case !text.IsZero() && !text.Equal(before[id]):
			c.unreported[id] = text
		default:
			r.setUnplayable(ctx, v, text)
		}
		if !c.versions[id].Unplayable.IsZero() {
			unplayable++
		}
	}
	r.metrics.unplayable.Set(float64(unplayable))
}

// nextReportTime returns when reportUnplayable has to look again, and zero if nobody may have to be told.
func (c *catalog) nextReportTime() (next time.Time) {
	if len(c.unreported) > 0 {
		next = c.reportedAt.Add(reportDelay)
	}
	return next
}

// setUnplayable stores what a live version needs and no machine has, and logs it. If missing is empty, the version can be
// played again.
func (r *Runner) setUnplayable(ctx context.Context, v knownVersion, missing phrase.Text) {
	if now, err := r.Store.Versions.Find(ctx, v.ID); err != nil || now.State != ladder.Live {
		return
	}
	if err := r.Store.Versions.SetUnplayable(ctx, v.ID, missing); err != nil {
		r.Log.Error("telling of a version that cannot be played", "version", v.ID, "err", err)
		return
	}
	v.Unplayable = missing
	r.catalog.versions[v.ID] = v
	if missing.IsZero() {
		r.Log.Info("a version can be played again", "version", v.ID, "bot", v.Bot, "number", v.Number)
		return
	}
	r.Log.Warn("no machine can play a version", "version", v.ID, "bot", v.Bot, "number", v.Number, "missing", missing)
}
