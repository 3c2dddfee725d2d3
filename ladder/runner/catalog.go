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

// maxKnownVersions limits the size of the cache of versions, at some 500 bytes each. A full cache is cleared.
const maxKnownVersions = 100_000

// catalog finds out what versions of bots need from a machine, and decides which machine can play a version now.
type catalog struct {
	store          Store
	programs       Programs
	host           Host
	remotes        Remotes
	limits         Limits
	backoffs       backoffs
	versions       map[int64]cachedVersion // a cache
	reportedAt     time.Time               // when reportUnplayable last ran
	pendingReports map[int64]phrase.Text   // by version, needs that no machine met then and that the owner does not know of yet
}

// cachedVersion is a version in the cache of a catalog. If hasBuild is false, the built files are gone, and the
// server must build the version again before another machine can play it. Needs then says what the last build needed.
type cachedVersion struct {
	ladder.Version
	hasBuild bool // whether there were built files when the version was read, or the version is remote
}

// classOf returns a text that describes what the machine m offers to bots. It is the same for all machines that can
// play the same versions.
func classOf(m attempt.WorkerInfo) string {
	// fmt prints maps sorted by their keys.
	return fmt.Sprintf("%t %s %s %s %s %v", m.Local, m.OS, m.Arch, m.Sandbox, m.Version, m.Interpreters)
}

// version returns the version with the given ID. It reads the version from the store if the cache does not have it,
// or if the version has been built since the cache got it. A version from the cache may be out of date: its State
// may have changed, or its built files may be gone.
func (c *catalog) version(ctx context.Context, id int64) (cachedVersion, error) {
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

// missingNeeds describes what v needs and m does not have. The text is empty if m can play v.
func (c *catalog) missingNeeds(m *machine, v cachedVersion) phrase.Text {
	n := v.Needs
	if m.Local { // it may start 32-bit programs
		if n.Arch == "386" || n.Arch == "arm" {
			n.Arch = ""
		}
		n.Interpreters = slices.DeleteFunc(slices.Clone(n.Interpreters), c.host.HasInterpreter)
	}
	return m.MissingNeeds(n)
}

// needsMissingEverywhere describes what v needs and none of the machines has. The text is empty if a machine
// can play v.
func (c *catalog) needsMissingEverywhere(machines map[string]*machine, v cachedVersion) phrase.Text {
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

// canPlay reports whether the machine of core can play the version with the given ID now. remote says that the
// version runs on its owner's machine.
func (c *catalog) canPlay(ctx context.Context, core Core, id int64, remote bool) bool {
	if len(c.backoffs) > 0 && (c.backoffs.isBackingOff(versionName(id), core.now) || c.backoffs.isBackingOff(versionOnMachine(id, core.Name), core.now)) {
		return false
	}
	if remote { // only this machine can reach it
		return core.Local && c.remotes.IsReady(id)
	}
	v, err := c.version(ctx, id)
	if err != nil || !v.hasBuild {
		return err == nil && core.Local
	}
	return c.missingNeeds(core.machine, v).IsZero()
}

// roomOf returns the memory that all matches on the machine of core share.
func (c *catalog) roomOf(core Core) ladder.MemoryBudget {
	return ladder.MemoryBudget{Total: core.Memory, Bot: c.limits.Room.Bot}
}

// job returns a job that plays m on the machine of core. The job records how much memory m needs there.
func (c *catalog) job(ctx context.Context, m *ladder.Match, core Core) (*matchJob, error) {
	j := &matchJob{match: m}
	v, err := m.Variant()
	if err != nil {
		return j, nil // attempt.Play reports the error
	}
	j.rotations, j.need = c.roomOf(core).ParallelRotations(v, m.HouseOrRemote(), max(1, len(core.Cores)))
	if !core.Local {
		return j, nil
	}
	build := c.limits.BuildMemory // at most all memory of the machine
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

// reportDelay is how long a version must have been unplayable on every machine before its owner gets a message.
// It is longer than the restart of a worker.
const reportDelay = time.Minute

// reportUnplayable stores and logs which versions no machine has been able to play for reportDelay, and which
// reported versions can be played again. The owners get a message.
func (r *Runner) reportUnplayable(ctx context.Context) {
	c, now := r.catalog, r.Now()
	if now.Sub(c.reportedAt) < reportDelay {
		return
	}
	machines := r.placement.classes()
	if len(machines) == 0 {
		return
	}
	before := c.pendingReports
	c.reportedAt, c.pendingReports = now, map[int64]phrase.Text{}
	unplayable := 0
	for id, v := range c.versions {
		switch text := c.needsMissingEverywhere(machines, v); {
		case text.Equal(v.Unplayable):
		case !text.IsZero() && !text.Equal(before[id]):
			c.pendingReports[id] = text
		default:
			r.setUnplayable(ctx, v, text)
		}
		if !c.versions[id].Unplayable.IsZero() {
			unplayable++
		}
	}
	r.metrics.unplayable.Set(float64(unplayable))
}

// nextReportTime returns when reportUnplayable has to run again, or zero if there is nothing to report.
func (c *catalog) nextReportTime() (next time.Time) {
	if len(c.pendingReports) > 0 {
		next = c.reportedAt.Add(reportDelay)
	}
	return next
}

// setUnplayable stores and logs that no machine can play v. missing says what the machines lack. If missing is empty,
// v can be played again. If the bot of v no longer plays with v, nothing happens.
func (r *Runner) setUnplayable(ctx context.Context, v cachedVersion, missing phrase.Text) {
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
