// Package submission takes a version of a bot from its upload to the ladders, in the stages unpack, build,
// check and trial. Begin with Pipeline.Run. Each stage has a log for the owner of the bot. If a stage fails,
// the previous version of the bot continues to play.
//
// Built bots are in the data directory under the hash of their files, and can be made again from the upload
// at any time.
package submission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sandbox"
)

// These are time limits of the stages of checking an upload. CheckTime and TrialTime limit the time that the bot
// itself uses; time that other programs took from it does not count. In the stage trial, all bots of a match together
// may use twice TrialTime.
const (
	UnpackTime = time.Minute
	BuildTime  = 5 * time.Minute
	CheckTime  = 5 * time.Minute
	TrialTime  = 10 * time.Minute
)

// Pipeline takes uploaded versions through the stages unpack, build, check and trial. Its methods are safe for
// concurrent use, but Run must not be called twice at the same time for one version.
type Pipeline struct {
	Store  *store.Store
	Dir    datadir.Dir
	Config *config.Config
	Check  check.Options       // of the stage check; the clock is replaced by that of a ladder
	Room   ladder.MemoryBudget // the memory for all bots and builds together
	Level  sandbox.Level       // sandbox level of this machine
	Log    *slog.Logger

	Now func() time.Time // the clock; time.Now unless a test replaces it

	builds     *trees.Store
	timeout    func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	checkClock referee.Clock // upper limit for the clock of the stage check
}

// New returns a pipeline for the store s with the limits, ladders and sandbox of c. The store must have been
// opened with an absolute path. The caller then sets Room, the memory for all bots and builds together, and
// Level, the sandbox level of this machine. If Room is zero, the memory is not limited. The caller may also
// replace Check and Log.
func New(s *store.Store, c *config.Config) *Pipeline {
	p := &Pipeline{
		Store: s, Dir: s.Dir(), Config: c, Check: check.Defaults(), Log: slog.New(slog.DiscardHandler),
		Now:     time.Now,
		timeout: context.WithTimeout, checkClock: referee.DefaultClock,
	}
	p.builds = newBuilds(p.Dir, func() time.Time { return p.Now() })
	return p
}

// level returns the sandbox level for bots and builds: that of this machine, or none if the sandbox is off.
func (p *Pipeline) level() sandbox.Level {
	if p.Config.Sandbox == sandbox.LevelNone {
		return sandbox.LevelNone
	}
	return p.Level
}

// Sandbox returns the sandbox in which submitted bots play, or nil if the configuration turns it off. At the
// full level, bots are frozen while they do not have the turn.
func (p *Pipeline) Sandbox() *match.Sandbox {
	if p.level() == sandbox.LevelNone {
		return nil
	}
	return &match.Sandbox{Level: p.Level, Limit: p.Config.BotLimit(), Freeze: p.Level == sandbox.LevelFull}
}

// buildLimit returns the limits of the sandbox of a build. They never exceed the memory of all bots together.
func (p *Pipeline) buildLimit() sandbox.Limit {
	limit := sandbox.BuildLimit
	if total := p.Room.Total; total > 0 && limit.MaxMemory(p.Level) > total {
		limit.Memory, limit.Disk = total*2/3, total/3
	}
	return limit
}

// MaxMemory returns the largest memory, in bytes, that building or checking any version can use.
func (p *Pipeline) MaxMemory() (memory int64, err error) {
	memory = max(p.buildLimit().MaxMemory(p.Level), p.Room.Bot)
	for _, t := range p.trialLaddersOf(ladder.Version{}) {
		v, err := t.Variant()
		if err != nil {
			return 0, err
		}
		if p.checkRoom(v) == nil {
			memory = max(memory, p.Room.RotationMemory(v, []bool{false, true}))
		}
	}
	return memory, nil
}

// checkRoom returns an error if a match of variant v between a submitted bot and a house bot (part of timba) needs
// more memory than there is for bots. This can happen for a game that has no ladder.
func (p *Pipeline) checkRoom(v *rules.Variant) error {
	return p.Room.Check("a match of "+v.Game.Name, v, []bool{false, true})
}

// IsBuilt reports whether a version can be started without a build.
func (p *Pipeline) IsBuilt(v ladder.Version) bool {
	if v.IsHouse() {
		return true
	}
	_, err := os.Stat(p.Dir.Bot(v.Hash))
	return err == nil
}

// refusal is the error of a build or check that fails because of the bot, and not because of the server.
type refusal struct{ text phrase.Text }

func (r *refusal) Error() string { return r.text.String() }

func newRefusal(format string, args ...any) error {
	return &refusal{phrase.New(format, args...)}
}

// submission is a version on its way through the stages (unpack, build, check, trial), or a bot that is tested
// while its author edits it.
type submission struct {
	*Pipeline
	version   ladder.Version
	core      int
	work      string        // temporary directory
	ownTime   match.OwnTime // time that the bot has used in the matches of the trial
	totalTime match.OwnTime // time that all bots have used in these matches
	timeLimit time.Duration // for the stage that runs
	quick     bool          // whether the check is the short one
	*botBuild
}

// stage is one step of checking an upload. run does the work of the step, writes to the log, and returns a summary in
// one line. If the bot is to blame for a failure, the error is a *refusal.
type stage struct {
	name      string
	state     ladder.VersionState
	timeLimit time.Duration
	byOwnTime bool // whether timeLimit applies to the own time of bots instead of the duration; run then calls checkOwnTime
	run       func(*submission, context.Context, *transcript) (summary phrase.Text, err error)
}

// The names of the stages through which an upload goes, in their order.
const (
	Unpack = "unpack"
	Build  = "build"
	Check  = "check"
	Trial  = "trial"
)

func (p *Pipeline) stages() []stage {
	return []stage{
		{Unpack, ladder.Queued, UnpackTime, false, (*submission).unpack},
		{Build, ladder.Building, BuildTime, false, (*submission).build},
		{Check, ladder.Checking, CheckTime, true, (*submission).check},
		{Trial, ladder.Trial, TrialTime, true, (*submission).trial},
	}
}

// Run takes a version through all stages (unpack, build, check, trial), beginning with the first. Afterwards either
// the bot plays with the version, or the version has failed and its owner has a message. The bots run on the
// processor core with the number core, or on any core if that is cores.Any. If the version is neither queued nor in a
// stage, Run does nothing.
//
// If ctx ends or the server fails, Run returns an error and the version stays pending. Run must then be called again,
// and begins again with the first stage.
func (p *Pipeline) Run(ctx context.Context, version int64, core int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.Log.Error("panic in a submission", "version", version, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("submission: panic: %v", v)
		}
	}()
	v, err := p.Store.Versions.Find(ctx, version)
	if err != nil {
		return err
	}
	s := &submission{Pipeline: p, version: v, core: core}
	defer func() { s.release() }()
	err = p.Store.Versions.SetState(ctx, v.ID, ladder.Queued) // removes the stages of an earlier run
	if ladder.CodeOf(err) == ladder.Conflict {
		return nil // it is live, or has failed
	}
	if err != nil {
		return err
	}
	if s.work, err = p.Dir.MkdirTemp(fmt.Sprintf("version-%d-", v.ID)); err != nil {
		return fmt.Errorf("submission: %w", err)
	}
	defer os.RemoveAll(s.work)
	for _, stage := range p.stages() {
		if on, err := s.processStage(ctx, stage); err != nil || !on {
			return err
		}
	}
	if err := s.install(ctx); err != nil {
		return err
	}
	return p.Store.Versions.Promote(ctx, v.ID)
}

// processStage runs a stage of checking an upload and stores its outcome. on is true if the next stage can follow. If
// on is false and err is nil, the bot was to blame, and its version has failed.
func (s *submission) processStage(ctx context.Context, st stage) (on bool, err error) {
	if st.state != ladder.Queued {
		if err := s.Store.Versions.SetState(ctx, s.version.ID, st.state); err != nil {
			return false, err
		}
	}
	if err := s.Store.Versions.StartStage(ctx, s.version.ID, st.name); err != nil {
		return false, err
	}
	log := s.transcript()
	start := time.Now()
	summary, err := s.runStage(ctx, st, log)
	if err != nil && ctx.Err() != nil {
		return false, ctx.Err() // the version starts again later
	}
	var refused *refusal
	isServerFailure := err != nil && !errors.As(err, &refused)
	result := "ok"
	switch {
	case isServerFailure:
		result, summary = "failed", phrase.New("interrupted by a failure of the server, which will try again")
	case err != nil:
		result, summary = "failed", refused.text.Map(log.clean)
	}
	fmt.Fprintf(log, "\n%s: %s (%s)\n", result, summary, shortTime(time.Since(start)))
	outcome := ladder.Stage{Name: st.name, OK: err == nil, Log: log.String(), Summary: summary.Map(firstLine)}
	if storeErr := s.Store.Versions.FinishStage(ctx, s.version.ID, outcome); storeErr != nil || isServerFailure {
		return false, errors.Join(err, storeErr)
	}
	if refused == nil {
		return true, nil
	}
	return false, s.Store.Versions.Fail(ctx, s.version.ID, phrase.New("%s: %s", phrase.New(st.name), summary.Map(firstLine)))
}

func (s *submission) transcript() *transcript {
	const slash = string(filepath.Separator)
	return newTranscript(s.work+slash, string(s.Dir)+slash)
}

// runStage runs a stage of checking an upload. If the stage exceeds its time limit, the error is a refusal, because
// the bot is to blame and not the server.
func (s *submission) runStage(ctx context.Context, st stage, log *transcript) (summary phrase.Text, err error) {
	s.timeLimit = st.timeLimit
	within := ctx
	if !st.byOwnTime {
		var cancel context.CancelFunc
		within, cancel = s.timeout(ctx, st.timeLimit)
		defer cancel()
	}
	summary, err = st.run(s, within, log)
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && within.Err() != nil {
		err = s.overtimeError()
	}
	return summary, err
}

func (s *submission) overtimeError() error {
	return newRefusal("it did not finish within %s", shortTime(s.timeLimit))
}

// checkOwnTime returns a refusal (an error that blames the bot) if used is longer than the time limit of the stage.
// used is the time that bots themselves have used.
func (s *submission) checkOwnTime(used time.Duration) error {
	if used > s.timeLimit {
		return s.overtimeError()
	}
	return nil
}

// shortTime formats a time for people, such as "5 min".
func shortTime(d time.Duration) string {
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= 10*time.Second:
		return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// unpack is the first stage of checking an upload: it unpacks the upload and lists its files in the log.
func (s *submission) unpack(ctx context.Context, log *transcript) (summary phrase.Text, err error) {
	if s.botBuild, err = s.unbundle(s.version.Bundle, s.work); err != nil {
		if ladder.CodeOf(err) != "" {
			return summary, newRefusal("%s", err)
		}
		return summary, err
	}
	t := s.botBuild.tree
	if t.Top != "" {
		fmt.Fprintf(log, "everything is in the directory %s, which is used as the bot's directory\n", t.Top)
	}
	for i, f := range t.Files {
		if i == maxListed {
			fmt.Fprintf(log, "and %d more\n", len(t.Files)-i)
			break
		}
		fmt.Fprintf(log, "%10d  %s\n", f.Size, f.Path)
	}
	if n := len(t.SkippedPaths); n > 0 {
		fmt.Fprintf(log, "left out, not part of a bot: %s\n", listSome(t.SkippedPaths, 5))
	}
	fmt.Fprintf(log, "hash %s\n", s.hash)
	if len(t.Files) == 1 {
		return phrase.New("1 file, %s", bundle.FormatSize(t.Bytes)), nil
	}
	return phrase.New("%d files, %s", len(t.Files), bundle.FormatSize(t.Bytes)), nil
}

// maxListed limits how many files the log of the stage unpack lists.
const maxListed = 200
