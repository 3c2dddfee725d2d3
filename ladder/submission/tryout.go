package submission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
)

// TryoutDeals is the number of deals in a try-out, a test of a bot before it is submitted. Each is played in both
// seatings.
const TryoutDeals = 5

// TryoutCheckTime limits the time that the bot itself may use in the conformance tests before it is submitted.
const TryoutCheckTime = time.Minute

// Tryout is a test of a bot that consists of one file, before it is submitted. The bot is built like a submission,
// with the same limits, and plays a match against Opponent on the first ladder of Game. Nothing is stored.
type Tryout struct {
	File     string // file name, whose suffix determines the language
	Text     string // content of the file
	Game     string
	Opponent ladder.Version
	OnBuilt  func()                                   // called before the first game
	OnGame   func(*referee.GameResult, []TryoutFault) // called with each game and the faults of the tested bot, which is bot 0
	OnCheck  func(TryoutCheck)                        // called after the games with the outcome of the conformance tests
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
}

// TryoutMemory returns the memory, in bytes, that a test game of a game against a version can use. The game may have
// options, as in "brisca players=2". It returns an error if the version cannot play that game, or if the memory
// exceeds that for all bots of the server together.
func (p *Pipeline) TryoutMemory(game string, against ladder.Version) (int64, error) {
	t := p.trialLaddersOf(ladder.Version{Games: []string{game}})
	if len(t) == 0 {
		return 0, ladder.Errorf(ladder.Invalid, "", "game %q does not exist", ladder.Clip(game))
	}
	v, err := t[0].Variant()
	if err != nil {
		return 0, err
	}
	if err := against.CheckTablePlay(v); err != nil {
		return 0, err
	}
	need := max(p.buildLimit().MaxMemory(p.Level), p.Room.Bot, p.Room.RotationMemory(v, []bool{false, against.IsHouse()}))
	if p.Room.Total > 0 && need > p.Room.Total {
		return 0, ladder.Errorf(ladder.Invalid, "test against a house bot", "a match against %s can use %d MiB, and all bots together have %d MiB",
			against.Bot, need>>20, p.Room.Total>>20)
	}
	return need, nil
}

// RunTryout builds a bot, plays its games and runs the conformance tests, all on core. Faults in the games do
// not prevent the tests, but any error before them does. output is the log of the build and the games. If the
// bot is to blame, the error has the code Invalid; any other error is that of ctx or a failure of the server.
func (p *Pipeline) RunTryout(ctx context.Context, t Tryout, core int) (output string, err error) {
	work, err := p.Dir.MkdirTemp("tryout-")
	if err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	defer os.RemoveAll(work)
	s := &submission{Pipeline: p, core: core, work: work, botBuild: &botBuild{dir: filepath.Join(work, "source")}}
	if err := program.WriteFile(s.botBuild.dir, t.File, []byte(t.Text), []string{t.Game}); err != nil {
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
	case err == nil:
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
	if t.Opponent.Bot == t.File {
		s.version.Bot += "#2"
	}
	if _, err := s.command(s.dir, s.manifest.Run); err != nil {
		return err
	}
	bot, err := s.bot(s.dir, s.version)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	against, err := s.Resolve(ctx, t.Opponent)
	if err != nil {
		return err
	}
	t.OnBuilt()
	_, err = s.playMatch(ctx, s.trialLadders()[0], []match.Contestant{bot, against}, TryoutDeals, log, func(g *referee.GameResult) error {
		var faults []TryoutFault
		for _, f := range g.Faults {
			if g.Bots[f.Seat] != 0 {
				if t.Opponent.IsHouse() && f.HouseFailed() {
					return fmt.Errorf("submission: %s: %w: %v", t.Game, errHouse, f)
				}
				continue
			}
			c := bot.InCompetition(&g.Replay, f, g.Logs[f.Seat])
			faults = append(faults, TryoutFault{f, f.TextIn(c), f.Reason.Advice(c)})
		}
		g.Reveal(s.seed())
		t.OnGame(g, faults)
		return nil
	})
	return err
}
