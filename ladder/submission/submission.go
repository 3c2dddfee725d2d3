// Package submission takes a version of a bot from its upload to the ladders:
// unpack, build, check, trial, live. Each stage has a log for the bot's owner.
// What fails leaves the version before it playing.
//
// What runs stands in the data folder under its hash, and can be made again from
// the upload at any time.
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

	"golang.org/x/sync/singleflight"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/sandbox"
)

// How long the stages may take.
const (
	UnpackTime = time.Minute
	BuildTime  = 5 * time.Minute
	CheckTime  = 5 * time.Minute
	TrialTime  = 10 * time.Minute
)

// Pipeline is what takes versions through their stages. Its methods may be called
// from any goroutine, Run for one version from one at a time.
type Pipeline struct {
	Store  *store.Store
	Dir    string // the data folder
	Config *ladder.Config
	Check  check.Options // Defaults, but for the clock, which is that of the ladders
	Log    *slog.Logger

	restoring singleflight.Group
	buildTime time.Duration // BuildTime but for tests
}

// New is a pipeline over a store, with the limits, ladders and sandbox of a
// configuration.
func New(s *store.Store, dir string, c *ladder.Config) *Pipeline {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return &Pipeline{Store: s, Dir: dir, Config: c, Check: check.Defaults(), Log: slog.New(slog.DiscardHandler), buildTime: BuildTime}
}

// hold is how strangers' bots are held; nil where the sandbox is off, which no
// configuration file can say.
func (p *Pipeline) hold() *referee.Hold {
	if p.Config.Sandbox == sandbox.None {
		return nil
	}
	return &referee.Hold{Level: p.Config.Sandbox, Limit: p.Config.Limits.Hold()}
}

// refusal is a stage that fails for the bot's fault.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refuse(format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...)}
}

// submission is a version on its way.
type submission struct {
	*Pipeline
	version ladder.Version
	core    int
	work    string // a folder that is gone at the end
	*made
}

// stage is one step. run writes to the log and gives a line that sums it up; its
// error is a *refusal when the bot is to blame.
type stage struct {
	name  string
	state ladder.State
	most  time.Duration
	run   func(*submission, context.Context, *transcript) (summary string, err error)
}

// The names of the stages, in their order.
const (
	Unpack = "unpack"
	Build  = "build"
	Check  = "check"
	Trial  = "trial"
)

func (p *Pipeline) stages() []stage {
	return []stage{
		{Unpack, ladder.Queued, UnpackTime, (*submission).unpack},
		{Build, ladder.Building, p.buildTime, (*submission).build},
		{Check, ladder.Checking, CheckTime, (*submission).check},
		{Trial, ladder.Trial, TrialTime, (*submission).trial},
	}
}

// Run takes a version through its stages, from the first one, wherever it was
// left: it is live or has failed at the end, and its owner knows why. Bots run on
// a core, or on any with referee.AnyCore. A version that is not on its way is
// left alone.
//
// An error is the context's, or a failure of our own: then the version is still on
// its way, and Run is to be called again.
func (p *Pipeline) Run(ctx context.Context, version int64, core int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.Log.Error("panic in a submission", "version", version, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("submission: panic: %v", v)
		}
	}()
	v, err := p.Store.Version(ctx, version)
	if err != nil {
		return err
	}
	switch v.State {
	case ladder.Queued, ladder.Building, ladder.Checking, ladder.Trial:
	default:
		return nil
	}
	if err := p.Store.SetState(ctx, v.ID, ladder.Queued); err != nil { // the stages of an earlier try are gone
		return err
	}
	s := &submission{Pipeline: p, version: v, core: core}
	if s.work, err = p.workFolder(fmt.Sprintf("version-%d-", v.ID)); err != nil {
		return err
	}
	defer os.RemoveAll(s.work)
	for _, stage := range p.stages() {
		if on, err := s.do(ctx, stage); err != nil || !on {
			return err
		}
	}
	if err := s.install(s.made); err != nil {
		return err
	}
	return p.Store.Promote(ctx, v.ID)
}

// workFolder makes a folder for what is not kept. The server empties the folder
// that it is in when it starts.
func (p *Pipeline) workFolder(prefix string) (string, error) {
	tmp := filepath.Join(p.Dir, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	dir, err := os.MkdirTemp(tmp, prefix)
	if err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	// Bots of other users are to see what is in it.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	return dir, nil
}

// do runs a stage and keeps what became of it; on is false when the version has
// failed.
func (s *submission) do(ctx context.Context, st stage) (on bool, err error) {
	if st.state != ladder.Queued {
		if err := s.Store.SetState(ctx, s.version.ID, st.state); err != nil {
			return false, err
		}
	}
	if err := s.Store.BeginStage(ctx, s.version.ID, st.name); err != nil {
		return false, err
	}
	log := &transcript{}
	log.hide(s.work+string(filepath.Separator), s.Dir+string(filepath.Separator))
	within, cancel := context.WithTimeout(ctx, st.most)
	defer cancel()
	began := time.Now()
	summary, err := st.run(s, within, log)
	if err != nil && ctx.Err() != nil {
		return false, ctx.Err() // begins again
	}
	if err != nil && errors.Is(err, context.DeadlineExceeded) && within.Err() != nil {
		err = refuse("it was not over after %s", short(st.most))
	}
	var no *refusal
	ours := err != nil && !errors.As(err, &no)
	switch {
	case ours:
		summary = "broken off by a failure of the server, which will try again"
	case err != nil:
		summary = log.clean(no.text)
	}
	fmt.Fprintf(log, "\n%s: %s (%s)\n", verdict(err), summary, short(time.Since(began)))
	ended := ladder.Stage{Name: st.name, OK: err == nil, Log: log.String(), Summary: firstLine(summary)}
	if kept := s.Store.EndStage(ctx, s.version.ID, ended); kept != nil || ours {
		return false, errors.Join(err, kept)
	}
	if no == nil {
		return true, nil
	}
	return false, s.Store.Fail(ctx, s.version.ID, fmt.Sprintf("%s: %s", st.name, firstLine(summary)))
}

func verdict(err error) string {
	if err == nil {
		return "ok"
	}
	return "failed"
}

// short is a time for people.
func short(d time.Duration) string {
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= 10*time.Second:
		return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// unpack makes a folder of the upload.
func (s *submission) unpack(ctx context.Context, log *transcript) (string, error) {
	var err error
	if s.made, err = s.unbundle(s.version.Bundle, s.work); err != nil {
		if ladder.CodeOf(err) != "" {
			return "", refuse("%s", err)
		}
		return "", err
	}
	t := s.made.tree
	if t.Top != "" {
		fmt.Fprintf(log, "everything is in the folder %s, which is taken for the bot's folder\n", t.Top)
	}
	for i, f := range t.Files {
		if i == maxListed {
			fmt.Fprintf(log, "and %d more\n", len(t.Files)-i)
			break
		}
		fmt.Fprintf(log, "%10d  %s\n", f.Size, f.Path)
	}
	if n := len(t.Left); n > 0 {
		fmt.Fprintf(log, "left out, since it is no part of a bot: %s\n", some(t.Left, 5))
	}
	fmt.Fprintf(log, "hash %s\n", s.hash)
	if err := s.changed(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %s", count(len(t.Files), "file", "files"), bundle.Size(t.Bytes)), nil
}

// maxListed is how many files a log lists.
const maxListed = 200

// changed refuses what is live already: a version that plays the same moves would
// only lose the certainty of the rating.
func (s *submission) changed(ctx context.Context) error {
	versions, err := s.Store.Versions(ctx, s.version.BotID)
	if err != nil {
		return err
	}
	for _, v := range versions {
		if v.State == ladder.Live && v.Hash == s.hash {
			return refuse("nothing has changed: version %d, which is live, has the very same files and plays on", v.Number)
		}
	}
	return nil
}
