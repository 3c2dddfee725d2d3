package submission

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/text"
)

// TrialDeals is how many deals (starting positions) a new version must play against the house bot @random on each
// ladder. Each deal is played in all seatings.
const TrialDeals = 1

// check is the third stage of checking an upload. It runs the conformance tests on the bot that the command timba
// check also runs, in the sandbox and with the clock of a ladder.
func (s *submission) check(ctx context.Context, log *transcript) (summary phrase.Text, err error) {
	bot, err := s.bot(s.dir, s.version)
	if err != nil {
		return summary, err
	}
	if bot.Sandbox != nil {
		bot.Sandbox.Freeze = false // as timba check does on the author's machine
	}
	o := s.Check
	o.Clock, o.RetryUnsandboxed, o.OnServer = s.clock(), false, true // never run a submitted bot without the sandbox
	o.OnCheck = func(c check.Check) { c.WriteLine(log) }
	o.Yield, o.Quick = s.checkOwnTime, o.Quick || s.quick
	quick := ""
	if o.Quick {
		quick = " --quick"
	}
	fmt.Fprintf(log, "the same on your machine: timba %s%s\n\n", strings.Join(check.CommandArgs("DIR", "", o.Clock, s.Config.BotLimit()), " "), quick)
	report, err := check.Run(ctx, program.Program{Contestant: bot, Games: s.version.Games}, o)
	if err != nil {
		return summary, err
	}
	report.WriteSummary(log)
	var failed []phrase.Text
	var warned []string
	for _, c := range report.Checks {
		switch {
		case c.Status == check.Failed:
			failed = append(failed, phrase.New("%s: %s; to change: %s", phrase.New(c.Name), c.Failure.Text, c.Failure.Change))
		case c.Status == check.Warning:
			warned = append(warned, c.Name)
		}
	}
	switch {
	case len(failed) == 1:
		return summary, newRefusal("%s", failed[0])
	case len(failed) == 2:
		return summary, newRefusal("%s; and 1 other check fails, too", failed[0])
	case len(failed) > 2:
		return summary, newRefusal("%s; and %d other checks fail, too", failed[0], len(failed)-1)
	case len(warned) > 0:
		return phrase.New("passes, with warnings: %s", strings.Join(warned, ", ")), nil
	}
	return phrase.New("passes all %d checks", len(report.Checks)), nil
}

// clock returns the clock for the conformance tests. It is the clock with the shortest time per move among
// s.checkClock and the clocks of the ladders on which the bot would play.
func (s *submission) clock() referee.Clock {
	clock := s.checkClock
	for _, t := range s.trialLadders() {
		if t.Clock.Move > 0 && t.Clock.Move < clock.Move {
			clock = t.Clock
		}
	}
	return clock
}

func (s *submission) trialLadders() []ladder.Ladder { return s.trialLaddersOf(s.version) }

// trialLaddersOf returns the ladders on which a new version plays its test matches: the ladders of its games, and one
// made up for each of its games that has no ladder. The made-up ladder has the default options of the game, except
// for options that the version requires.
func (p *Pipeline) trialLaddersOf(version ladder.Version) (list []ladder.Ladder) {
	for _, l := range p.Config.Ladders {
		if version.Plays(l.Game, l.Options) {
			list = append(list, l)
		}
	}
	claims := version.Games
	if claims == nil {
		for _, g := range games.All() {
			claims = append(claims, g.Name)
		}
	}
	for _, claim := range claims {
		game, required := rules.SplitClaim(claim)
		own := func(l ladder.Ladder) bool { return rules.ClaimsVariant([]string{claim}, l.Game, l.Options) }
		if !slices.ContainsFunc(list, own) {
			list = append(list, ladder.Ladder{Name: claim, Game: game, Options: rules.Settings(required).Map(), Clock: referee.DefaultClock})
		}
	}
	return list
}

// trial is the last stage of checking an upload. On each ladder of trialLadders, the bot plays a match against the
// house bot @random; a ladder whose matches need too much memory is left out. The bot is refused at its first fault.
func (s *submission) trial(ctx context.Context, log *transcript) (summary phrase.Text, err error) {
	bot, err := s.bot(s.dir, s.version)
	if err != nil {
		return summary, err
	}
	random, err := program.Resolver{}.Resolve(ctx, ladder.Anchor)
	if err != nil {
		return summary, err
	}
	random.Contestant.Temp = bot.Temp
	played, matches := 0, 0
	for _, t := range s.trialLadders() {
		v, err := t.Variant()
		if err != nil {
			return summary, err
		}
		if noRoom := s.checkRoom(v); noRoom != nil {
			fmt.Fprintf(log, "%-20s is not tried: %s\n", t.Name, noRoom)
			continue
		}
		matches++
		m := match.Match{Bots: []match.Contestant{bot, random.Contestant}, Deals: TrialDeals, Seed: s.seed()}
		n, err := s.playMatch(ctx, t, m, 0, log, func(g *referee.GameResult) error {
			return s.refuseFirstFault(t.Name, g, log)
		})
		if err != nil {
			return summary, err
		}
		played += n
	}
	if matches == 1 {
		return phrase.New("%d games against %s in 1 match, no fault", played, ladder.Anchor), nil
	}
	return phrase.New("%d games against %s in %d matches, no fault", played, ladder.Anchor, matches), nil
}

// playMatch plays m with the rules and the clock of ladder t, and returns the number of games. It calls done after
// each game, and stops at the first error that done returns. tested is the index of the bot under test. If that bot,
// or all bots together, take too much time, the error is a refusal: the test has failed, and not the server.
func (s *submission) playMatch(ctx context.Context, t ladder.Ladder, m match.Match, tested int, log *transcript, done func(*referee.GameResult) error) (played int, err error) {
	variant, err := t.Variant()
	if err != nil {
		return 0, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	tally := referee.NewTally(variant, make([]referee.ReplaySeat, len(m.Bots)))
	s.ownTime.Bots, s.ownTime.Bot = len(m.Bots), tested
	m.Variant, m.Clock, m.Patience = variant, t.Clock, match.LatePatience
	m.Resources = match.Resources{Workers: []int{s.core}, ParallelRotations: 1}
	m.Observer = match.Observer{
		Watch: func(game *referee.Game) {
			s.ownTime.Watch(game)
			s.totalTime.Watch(game)
			err := s.checkOwnTime(s.ownTime.Sum())
			if err == nil && s.totalTime.Sum() > 2*s.timeLimit {
				err = newRefusal("the opponent is too slow for a test: the games of both bots need more than %s; choose another one", shortTime(2*s.timeLimit))
			}
			if err != nil {
				end(err)
			}
		},
		Trouble: func(err error) { fmt.Fprintln(log, err) },
	}
	err = m.Play(ctx, func(game *referee.GameResult) error {
		for i, log := range game.Logs {
			game.Logs[i] = datadir.HideBotPaths(log)
		}
		tally.Add(game)
		return done(game)
	})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return 0, err
	}
	score := tally.Scores[tested]
	fmt.Fprintf(log, "%-20s %s: %d won, %d drawn, %d lost\n", t.Name, text.Count(score.Games, "game"), score.Wins, score.Draws, score.Losses)
	return tally.Games, nil
}

// seed returns the seed of all matches in which the bot is tried. It depends only on the uploaded files.
func (s *submission) seed() rules.Seed { return sha256.Sum256([]byte("trial " + s.hash)) }

// errHouse is the error for a failure of a house bot. It counts as a failure of the server, because house bots
// are part of timba.
var errHouse = errors.New("the house bot failed")

// logTail is how many lines of a bot's stderr are shown with its fault.
const logTail = 20

// refuseFirstFault returns a refusal (an error that blames the bot) if the bot under test has a fault in the game g.
// It writes the fault and advice to log. trial is the name of the ladder. If a house bot (part of timba) has failed,
// the error wraps errHouse.
func (s *submission) refuseFirstFault(trial string, g *referee.GameResult, log *transcript) error {
	isOpponent := func(f referee.Fault) bool { return g.Bots[f.Seat] != 0 }
	i := slices.IndexFunc(g.Faults, func(f referee.Fault) bool { return !isOpponent(f) || f.HouseFailed() })
	if i < 0 {
		return nil
	}
	f := g.Faults[i]
	if isOpponent(f) {
		return fmt.Errorf("submission: %s: %w: %v", trial, errHouse, f)
	}
	c := match.Contestant{Language: s.version.Language, Sandbox: s.Sandbox()}.InCompetition(&g.Replay, f, g.Logs[f.Seat])
	text := f.TextIn(c)
	where := phrase.New("%s, deal %d, rotation %d, seat %d, ply %d", trial, g.Match.Deal, g.Match.Rotation, f.Seat, f.Ply)
	fmt.Fprintf(log, "%s\n%s: %s\n", where, f.Code, text)
	if lines := fault.LogEnd(c.Log.Lines, logTail); len(lines) > 0 {
		fmt.Fprintf(log, "\nthe last lines that the bot wrote on stderr:\n")
		for _, line := range lines {
			fmt.Fprintf(log, "  %s\n", line)
		}
	}
	fmt.Fprintf(log, "\nwhat to change:\n")
	advice := f.Reason.Advice(c)
	for _, a := range advice {
		fmt.Fprintf(log, "- %s\n", a)
	}
	return newRefusal("%s: %s: %s; to change: %s", where, f.Code, text, advice[0])
}
