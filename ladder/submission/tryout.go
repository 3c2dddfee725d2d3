package submission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
)

// TryoutDeals is the number of deals (starting positions) in a try-out, a test of a bot before it is submitted. Each
// deal is played in both seatings.
const TryoutDeals = 5

// TryoutCheckTime limits the time that the bot itself may use in the conformance tests before it is submitted.
const TryoutCheckTime = time.Minute

// Tryout is a test of a bot before it is submitted. The bot is built like a submission, with the same limits. It then
// plays a match against Opponent on the first ladder of Game, or plays again one deal of an earlier match. Nothing is
// stored.
type Tryout struct {
	File     string         // the edited file; if the bot has no other file, its suffix determines the language
	Text     string         // content of the file
	Base     ladder.Version // the version to which the other files belong; the zero value means that there are none
	Game     string
	Opponent ladder.Version
	Deal     *PlayedDeal                              // what is played instead of a match against Opponent; nil for such a match
	OnBuilt  func()                                   // called before the first game
	OnGame   func(*referee.GameResult, []TryoutFault) // called with each game and the faults of the tested bot
	OnCheck  func(TryoutCheck)                        // called after a match with the outcome of the conformance tests
}

// PlayedDeal is a deal (starting position) of a finished match that is to be played again. The tested bot takes the
// place of the bot with the index Slot.
type PlayedDeal struct {
	Match    ladder.Match
	Seed     rules.Seed // of the match
	Deal     int
	Rotation int              // of the game that the author looks at
	Slot     int              // of the tested bot
	Versions []ladder.Version // by slot
}

// Slot returns the index of the tested bot among the bots of the match that the try-out plays.
func (t Tryout) Slot() int {
	if t.Deal != nil {
		return t.Deal.Slot
	}
	return 0
}

// tryoutMatch describes the match that t plays. The ladder serves only to name the game, its options and the clock.
// The versions are in the order of the match; the one with the index t.Slot() is a placeholder for the tested bot. It
// returns an error if the game of t does not exist.
func (p *Pipeline) tryoutMatch(t Tryout) (ladder.Ladder, []ladder.Version, error) {
	if t.Deal != nil {
		m := t.Deal.Match
		return ladder.Ladder{Name: m.Game, Game: m.Game, Options: m.Options, Clock: m.Clock}, t.Deal.Versions, nil
	}
	list := p.trialLaddersOf(ladder.Version{Games: []string{t.Game}})
	if len(list) == 0 {
		return ladder.Ladder{}, nil, ladder.Errorf(ladder.Invalid, "", "game %q does not exist", ladder.Clip(t.Game))
	}
	return list[0], []ladder.Version{{}, t.Opponent}, nil
}

// TryoutCheck is the outcome of the conformance tests of a bot.
type TryoutCheck struct {
	OK      bool
	Summary phrase.Text
	Log     string
}

// TryoutFault is a fault of the tested bot, with advice on what to change.
type TryoutFault struct {
	referee.Fault
	Description phrase.Text
	Advice      []phrase.Text
	Line        int // the line of the edited file that the bot's stderr names; 0 if it names none
}

// TryoutMemory returns how many bytes of memory a try-out can use for its build and for a game. It returns an error
// if an opponent cannot play the game, or if that memory is more than all bots of the server may use together.
func (p *Pipeline) TryoutMemory(t Tryout) (int64, error) {
	l, versions, err := p.tryoutMatch(t)
	if err != nil {
		return 0, err
	}
	v, err := l.Variant()
	if err != nil {
		return 0, err
	}
	house := make([]bool, len(versions))
	for slot, against := range versions {
		if slot == t.Slot() {
			continue
		}
		if err := against.CheckTablePlay(v); err != nil {
			return 0, err
		}
		house[slot] = against.IsHouse()
	}
	need := max(p.buildLimit().MaxMemory(p.Level), p.Room.Bot, p.Room.RotationMemory(v, house))
	if p.Room.Total > 0 && need > p.Room.Total {
		return 0, ladder.Errorf(ladder.Invalid, "test against a house bot", "the games of this test can use %d MiB, and all bots together have %d MiB", need>>20, p.Room.Total>>20)
	}
	return need, nil
}

// RunTryout builds a bot and plays its games, all on the given processor core. After a match it also runs the
// conformance tests. If the bot makes the same kind of fault twice, the games end with an error that describes the
// fault. output is the log of the build and the games. If the bot is to blame, the error has the code Invalid; any
// other error is that of ctx or a failure of the server.
func (p *Pipeline) RunTryout(ctx context.Context, t Tryout, core int) (output string, err error) {
	work, err := p.Dir.MkdirTemp("tryout-")
	if err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	defer os.RemoveAll(work)
	s := &submission{Pipeline: p, core: core, work: work, botBuild: &botBuild{dir: filepath.Join(work, "source")}}
	if t.Base.ID == 0 {
		err = program.WriteFile(s.botBuild.dir, t.File, []byte(t.Text), []string{t.Game})
	} else if s.botBuild, err = p.unbundle(t.Base.Bundle, work); err == nil {
		err = os.WriteFile(filepath.Join(s.botBuild.dir, t.File), []byte(t.Text), 0o644)
	}
	if err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	if s.hash, err = trees.HashSource(s.botBuild.dir); err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	defer s.release()
	log := s.transcript()
	play := func(s *submission, ctx context.Context, log *transcript) (phrase.Text, error) {
		return phrase.Text{}, s.playTryout(ctx, t, log)
	}
	for _, st := range []stage{{Build, "", BuildTime, false, (*submission).buildTryout}, {Trial, "", TrialTime, true, play}} {
		if _, err = s.runStage(ctx, st, log); err != nil {
			break
		}
	}
	var refused *refusal
	switch {
	case err == nil && t.Deal == nil:
		err = s.checkTryout(ctx, t)
	case errors.As(err, &refused) && ctx.Err() == nil:
		err = ladder.Errorf(ladder.Invalid, "", "%s", refused.text.Map(log.clean))
	}
	return log.String(), err
}

// checkTryout runs the conformance tests on the bot of a try-out and passes the outcome to t.OnCheck.
func (s *submission) checkTryout(ctx context.Context, t Tryout) error {
	log, result := s.transcript(), TryoutCheck{OK: true}
	s.quick = true
	summary, err := s.runStage(ctx, stage{Check, "", TryoutCheckTime, true, (*submission).check}, log)
	if refused, ok := errors.AsType[*refusal](err); ok && ctx.Err() == nil {
		result.OK, summary, err = false, refused.text.Map(log.clean), nil
	}
	if err != nil {
		return err
	}
	result.Summary, result.Log = summary, log.String()
	t.OnCheck(result)
	return nil
}

// buildTryout builds a bot that is tested before it is submitted. Unlike build, it stores nothing.
func (s *submission) buildTryout(ctx context.Context, log *transcript) (phrase.Text, error) {
	if err := s.readManifest(); err != nil {
		return phrase.Text{}, err
	}
	return s.buildBot(ctx, s.botBuild, log, s.work)
}

func (s *submission) playTryout(ctx context.Context, t Tryout, log *transcript) error {
	s.version = ladder.Version{Bot: t.File, Command: s.manifest.Run, Hash: s.hash, Language: s.manifest.Language(), Games: []string{t.Game}}
	l, versions, err := s.tryoutMatch(t)
	if err != nil {
		return err
	}
	if _, err := s.contestant(s.dir, s.manifest.Run); err != nil {
		return err
	}
	bot, err := s.bot(s.dir, s.version)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := match.Match{Deals: TryoutDeals, Seed: s.seed()}
	if t.Deal != nil {
		m.Deals, m.FirstDeal, m.Seed = 1, t.Deal.Deal, t.Deal.Seed
	}
	for slot, v := range versions {
		b := bot
		if slot != t.Slot() {
			if b, err = s.Resolve(ctx, v); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(m.Bots, func(o match.Contestant) bool { return o.Name == b.Name }) {
			b.Name = fmt.Sprintf("%s#%d", b.Name, slot+1)
		}
		m.Bots = append(m.Bots, b)
	}
	t.OnBuilt()
	seen := map[string]bool{} // the faults so far
	_, err = s.playMatch(ctx, l, m, t.Slot(), log, func(g *referee.GameResult) error {
		var faults []TryoutFault
		var twice error
		for _, f := range g.Faults {
			if g.Bots[f.Seat] != t.Slot() {
				if versions[g.Bots[f.Seat]].IsHouse() && f.HouseFailed() {
					return fmt.Errorf("submission: %s: %w: %v", t.Game, errHouse, f)
				}
				continue
			}
			c := bot.InCompetition(&g.Replay, f, g.Logs[f.Seat])
			faults = append(faults, TryoutFault{f, f.TextIn(c), f.Reason.Advice(c), fault.FailedLine(c.Log.Lines, t.File)})
			key, headline := summarizeFault(faults[len(faults)-1], c.Log.Lines)
			if seen[key] {
				twice = &refusal{headline}
			}
			seen[key] = true
		}
		g.Reveal(m.Seed)
		t.OnGame(g, faults)
		return twice
	})
	return err
}

// summarizeFault describes a fault. key is the same for two faults of one kind that have the same kind of error at
// the same line of the edited file. headline says that the bot did not start, or failed in two games, and why. stderr
// has the lines that the bot wrote to standard error.
func summarizeFault(f TryoutFault, stderr []string) (key string, headline phrase.Text) {
	line, sure := fault.Cause(stderr)
	cause := phrase.Plain(line)
	if !sure {
		line, cause = "", f.Reason.Short()
	}
	if f.Line > 0 && !strings.Contains(line, fmt.Sprintf("line %d", f.Line)) {
		cause = phrase.New("%s, line %d", cause, f.Line)
	}
	kind, _, _ := strings.Cut(line, ":")
	if key = fmt.Sprint(f.Reason.Kind, f.Line, kind); f.IsBeforeGame() {
		return key, phrase.New("the bot did not start: %s", cause)
	}
	return key, phrase.New("the bot failed in the same way in two games: %s", cause)
}
