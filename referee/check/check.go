// Package check tests whether a bot follows the protocol of SPEC.md, and reports what is wrong and what its
// author can change. It plays games with the bot in one seat and random moves in the others, through package
// match, so that the rules of a match apply. Begin with Run.
package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// Options say what Run tests, and under which conditions. Defaults returns the usual values.
type Options struct {
	Games            []*rules.Game     // the games to play; nil means all that the bot claims to play
	Set              map[string]string // by the names of options, the values with which games are played; other values are not tested
	Seed             rules.Seed        // determines the deals, the moves of the other seats and the bot's own seed
	Clock            referee.Clock     // the time for a move, the margin and the start-up time
	Quick            bool              // test every option once instead of all pairs, and play fewer games
	Time             time.Duration     // time for the whole check: later no game starts; time that other programs take from the bot does not count
	Waits            Waits
	RetryUnsandboxed bool // if the bot fails in the sandbox, also try it without one, and report the difference
	OnServer         bool // a server checks an uploaded bot: its author cannot set flags, and must not learn which files the server has
	Callbacks
	// Yield, if not nil, is called before lines are sent to the bot, so that the caller can pause the check. own is
	// the duration of the check so far, without the time that other programs took. If Yield returns an error, the
	// check ends.
	Yield func(own time.Duration) error
}

// Callbacks are functions that Run calls. Each may be nil.
type Callbacks struct {
	// OnCheck is called with the result of each single check, such as the check ManyGames.
	OnCheck func(Check)
	// OnProgress is called after each game of the check ManyGames. done is the number of games so far in that check,
	// and all is the number of planned ones.
	OnProgress func(done, all int)
	// OnOutput is called with each text that passes between Run and the bot. process is the number of the bot's
	// process, counted from 1. mark is '<' for a line to the bot, '>' for a line from the bot, and '!' for a part of
	// its stderr.
	OnOutput func(process int, mark byte, text []byte)
	// OnGame is called with the record of each game that has ended. If the bot has failed, the other seats first play
	// the game to its end. Match.Deal in the record is the number of the game within the whole check, counted from 1.
	OnGame func(*referee.GameResult)
}

// Waits has the times for which a check waits for a bot, in addition to the times of the bot's clock.
type Waits struct {
	Patience time.Duration // for an answer that is already late, to find out why it is late
	Pause    time.Duration // for lines that the bot must not write
	Grace    time.Duration // for the end of the process after "bye"
}

type startFunc func(context.Context, match.Contestant, referee.Clock, func(match.BotConn) match.BotConn) (*match.BotProcess, error)

// Defaults returns Options with the usual clock and times. Games, Seed and the callbacks are not set.
func Defaults() Options {
	waits := Waits{Patience: 2 * time.Second, Pause: 50 * time.Millisecond, Grace: time.Second}
	return Options{Clock: referee.DefaultClock, Time: 2 * time.Minute, Waits: waits}
}

// The names of the checks, in the order in which they are made. Between FirstGame and ManyGames there is also a check
// for each kind of game, with the name of the game.
const (
	Sandbox   = "sandbox"
	Manifest  = "manifest"
	Start     = "start"
	FirstGame = "first game"
	ManyGames = "many games"
	Silent    = "silence"
	Verbs     = "unknown verbs"
	Events    = "unknown events"
	Keys      = "unknown keys"
	Order     = "order of keys"
	Long      = "long lines"
	Pieces    = "lines in pieces"
	Faults    = "others' faults"
	Bank      = "bank"
	Bye       = "bye"
	Repeat    = "same seed"
	Time      = "time"
	Output    = "output"
)

// run is the state of the check of one bot: its options and everything that has been found out so far.
type run struct {
	Options
	ctx         context.Context
	startBot    startFunc
	program     program.Program
	report      *Report
	timer       timer
	session     *session // the running process, or nil
	extras      extras
	first       *game    // the game that later checks play again with other lines
	opening     []string // the bot's moves when it played the game first for the first time
	marathon    marathon
	variants    map[string][]*rules.Variant // by the name of the game, those that the bot plays
	gameResults map[string]*gameResult      // by the name of the game
}

// timer measures how long the checks of a bot have taken.
type timer struct {
	startedAt time.Time
	credit    time.Duration // time that other programs took from the bot, in all its turns
}

// ownTime returns the time since the check began, without the time that other programs took from the bot.
func (t timer) ownTime() time.Duration { return time.Since(t.startedAt) - t.credit }

// marathon is the state of the check ManyGames, in which a single process of the bot plays many games in a row.
type marathon struct {
	plan      []*game
	mostGames int      // the largest number of games in one process
	leftOver  *Failure // the first failure that does not happen again in a new process
}

// gameResult sums up the games of one kind, such as Brisca, that the bot has played in the check.
type gameResult struct {
	plannedGames, playedGames int      // numbers of games that are planned, and that were played without a failure
	restricted                bool     // some options are not tested, because of the manifest or Options.Set
	failure                   *Failure // the first failure that also happens in a new process
	timedGames                int      // games whose move times are in moveTimes, because their lines were sent as in a match
	moveTimes                 []time.Duration
}

// Run checks the bot p and returns the report. If the bot fails, that is part of the report and not an error. The
// error is that of ctx or of Options.Yield, or says that the check cannot be made. It is a *match.StarvedError if the
// machine is too busy.
func Run(ctx context.Context, p program.Program, o Options) (*Report, error) {
	return examine(ctx, match.Start, p, o)
}

// TryStart starts the bot p once and waits for its "ready", as the check Start does. The error is a *Failure if the bot
// is to blame.
func TryStart(ctx context.Context, p program.Program, o Options) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.Language = program.Language(p.Contestant)
	k := &run{Options: o, ctx: ctx, startBot: match.Start, program: p, report: newReport(p, o), timer: timer{startedAt: time.Now()}}
	defer k.endSession()
	_, err := k.newSession()
	return err
}

// examine does the work of Run. It calls start to start the bot.
func examine(ctx context.Context, start startFunc, p program.Program, o Options) (*Report, error) {
	variants, err := o.chooseGames(p)
	if err != nil {
		return nil, err
	}
	if err := o.Clock.Check(); err != nil {
		return nil, err
	}
	p.Language = program.Language(p.Contestant)
	// Processes of bots end with the thread that started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	k := &run{Options: o, ctx: ctx, startBot: start, program: p, report: newReport(p, o), timer: timer{startedAt: time.Now()}, variants: variants, gameResults: map[string]*gameResult{}}
	for _, g := range o.Games {
		k.gameResults[g.Name] = &gameResult{restricted: len(variants[g.Name]) < len(allVariants(g, nil))}
	}
	defer k.endSession()
	if err := k.run(); err != nil {
		return nil, err
	}
	k.report.Seconds = time.Since(k.timer.startedAt).Seconds()
	return k.report, nil
}

// chooseGames returns the variants to play, by the name of the game, and sets o.Games to these games. If o.Games is
// nil, it chooses all games that the bot p plays. It leaves out a game that p does not play with the options in
// o.Set. It returns an error if no game is left, or if o.Games contains a game that p does not play.
func (o *Options) chooseGames(p program.Program) (map[string][]*rules.Variant, error) {
	named := o.Games != nil
	choice := o.Games
	if !named {
		choice = games.All()
	}
	o.Games = nil
	variants := map[string][]*rules.Variant{}
	knows := false
	for _, g := range choice {
		plays := p.Plays(g.Name)
		if named && !plays {
			return nil, fmt.Errorf("check: bot %s does not claim to play %s: its manifest has games = %q", p.Name, g.Name, p.Games)
		}
		knows = knows || plays
		if !plays {
			continue
		}
		if list := claimedVariants(g, canonicalClaims(p.Games), o.Set); list != nil {
			variants[g.Name] = list
			o.Games = append(o.Games, g)
		}
	}
	switch {
	case !knows:
		return nil, fmt.Errorf("check: bot %s names no known game: its manifest has games = %q", p.Name, p.Games)
	case len(o.Games) == 0 && len(o.Set) > 0 && named:
		return nil, fmt.Errorf("check: bot %s plays none of these games with %s: leave --set or --games out", p.Name, setText(o.Set))
	case len(o.Games) == 0 && len(o.Set) > 0:
		return nil, fmt.Errorf("check: bot %s plays no game with %s: leave --set out, or try --games", p.Name, setText(o.Set))
	case len(o.Games) == 0:
		return nil, fmt.Errorf("check: bot %s names no game that can be played with its options: its manifest has games = %q", p.Name, p.Games)
	}
	return variants, nil
}

// canonicalClaims returns claims in canonical form. A claim says which game a bot plays, perhaps with options, such
// as "brisca players=2". canonicalClaims leaves out invalid claims.
func canonicalClaims(claims []string) (list []string) {
	for _, text := range claims {
		if claim, _, err := games.CanonicalClaim(text); err == nil {
			list = append(list, claim)
		}
	}
	return list
}

// setText returns options as words of a command line: name=value, sorted by name.
func setText(set map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		words = append(words, name+"="+set[name])
	}
	return strings.Join(words, " ")
}

// run makes all checks in order and adds them to the report. If the bot does not start, or fails in its first game,
// the remaining checks would report the same failure and are skipped.
func (k *run) run() error {
	v := k.variants[k.Games[0].Name][0]
	k.first = &game{variant: v, seat: 0, seed: k.Seed.Derive("check/first"), clock: k.Clock, quiet: true}
	if !k.program.House {
		if err := k.runCheck(Sandbox, k.checkSandbox); err != nil {
			return err
		}
	}
	if k.program.Games != nil {
		if err := k.runCheck(Manifest, k.checkManifest); err != nil {
			return err
		}
	}
	for _, c := range []step{{Start, k.checkStart}, {FirstGame, k.checkFirstGame}} {
		compared := func() (string, []string, error) {
			note, warnings, err := c.run()
			return note, warnings, k.compareUnsandboxed(err)
		}
		if err := k.runCheck(c.name, compared); err != nil {
			return err
		}
		if k.report.Find(c.name).Status == Failed {
			return k.skipRest(c.name)
		}
	}
	if err := k.playMany(); err != nil {
		return err
	}
	for _, c := range k.steps() {
		if err := k.runCheck(c.name, c.run); err != nil {
			return err
		}
	}
	return nil
}

// step is one check of a bot, with its name. run makes the check. It returns a note on what it observed, and
// warnings; the error is a *Failure if the bot fails.
type step struct {
	name string
	run  func() (note string, warnings []string, err error)
}

// steps returns the checks that follow the check ManyGames, in order.
func (k *run) steps() []step {
	var list []step
	for _, d := range variations {
		list = append(list, step{d.name, func() (string, []string, error) { return k.playVariation(d) }})
	}
	return append(list,
		step{Faults, k.checkOthersFaults}, step{Bank, k.checkBank}, step{Bye, k.checkBye}, step{Repeat, k.checkRepeat}, step{Time, k.checkTimes}, step{Output, k.checkOutput})
}

func (k *run) runCheck(name string, run func() (string, []string, error)) error {
	note, warnings, err := run()
	return k.addCheck(Check{Name: name, Status: OK, Note: note, Warnings: warnings}, err)
}

// addCheck adds c to the report. If err is a *Failure, c is added as failed. If err is any other error, addCheck adds
// nothing and returns err.
func (k *run) addCheck(c Check, err error) error {
	f, failed := errors.AsType[*Failure](err)
	if err != nil && !failed {
		return err
	}
	if failed {
		c.Status, c.Failure, c.Note = Failed, f, f.Error()
		k.endSession()
	}
	k.report.add(c)
	if k.OnCheck != nil {
		k.OnCheck(k.report.Checks[len(k.report.Checks)-1])
	}
	return nil
}

func (k *run) skipRest(after string) error {
	var names []string
	if after == Start {
		names = append(names, FirstGame)
	}
	for _, g := range k.Games {
		names = append(names, g.Name)
	}
	names = append(names, ManyGames)
	for _, s := range k.steps() {
		names = append(names, s.name)
	}
	names = names[:len(names)-1] // Output
	for _, name := range names {
		if err := k.addCheck(Check{Name: name, Status: Skipped, Note: fmt.Sprintf("skipped: fix %q first", after)}, nil); err != nil {
			return err
		}
	}
	if after == Start && k.extras.totalLog == 0 {
		return nil // the bot has written nothing that Output could report
	}
	return k.runCheck(Output, k.checkOutput)
}

func (k *run) currentSession() (*session, error) {
	if k.session != nil {
		return k.session, nil
	}
	var err error
	k.session, err = k.launch()
	return k.session, err
}

func (k *run) newSession() (*session, error) {
	k.endSession()
	return k.currentSession()
}

func (k *run) endSession() {
	if k.session != nil {
		k.session.close()
		k.session = nil
	}
}

// recordTimes adds the times of the bot's moves in the game g to the report. It must be called only for a game whose
// lines were sent to the bot as in a match. p has the moves and their times.
func (k *run) recordTimes(g *game, p botAnswers) {
	t := k.gameResults[g.variant.Game.Name]
	t.timedGames, t.moveTimes = t.timedGames+1, append(t.moveTimes, p.times...)
}

func (k *run) checkManifest() (note string, warnings []string, err error) {
	for _, text := range k.program.Games {
		claim, known, err := games.CanonicalClaim(text)
		if known && err == nil {
			name, _ := rules.SplitClaim(claim)
			if g, _ := games.Find(name); len(claimedVariants(g, []string{claim}, nil)) == 0 {
				err = phrase.Errorf("%q: these options do not go together", claim)
			}
		}
		switch {
		case err != nil && known:
			return "", nil, &Failure{Text: phrase.New("the key games is wrong: %w", err), Change: phrase.New("correct the key games of %s: each word after the name of a game is an option with its value, as in \"brisca players=2\"", program.ManifestFile)}
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("games: %v", err))
		}
	}
	return "claims " + strings.Join(k.program.Games, ", "), warnings, nil
}

func (k *run) checkStart() (note string, warnings []string, err error) {
	began := time.Now()
	if _, err := k.newSession(); err != nil {
		return "", nil, err
	}
	if k.report.StartMS > milliseconds(k.Clock.Startup/2) {
		warnings = append(warnings, fmt.Sprintf("the start took more than half of the %d ms allowed", k.Clock.Startup.Milliseconds()))
	}
	return fmt.Sprintf("ready after %d ms", time.Since(began).Milliseconds()), warnings, nil
}

func (k *run) checkFirstGame() (note string, warnings []string, err error) {
	p, err := k.session.play(k.first)
	if err != nil {
		return "", nil, err
	}
	k.opening = p.moves
	k.recordTimes(k.first, p)
	return fmt.Sprintf("%s: %d moves", k.first.variant.Game.Name, len(p.moves)), nil, nil
}

func (k *run) checkTimes() (note string, warnings []string, err error) {
	var worst time.Duration
	for _, g := range k.Games {
		t := k.gameResults[g.Name]
		if t.timedGames == 0 {
			continue
		}
		slices.Sort(t.moveTimes)
		row := Times{Game: g.Name, Games: t.timedGames, Moves: len(t.moveTimes)}
		if n := len(t.moveTimes); n > 0 {
			most := t.moveTimes[n-1]
			row.MedianMS, row.WorstMS = milliseconds(t.moveTimes[n/2]), milliseconds(most)
			worst = max(worst, most)
			if most > k.Clock.Move/2 {
				warnings = append(warnings, fmt.Sprintf("%s: a move took %.1f ms, more than half of the %d ms allowed: on a busy machine it may be late",
					g.Name, row.WorstMS, k.Clock.Move.Milliseconds()))
			}
		}
		k.report.Times = append(k.report.Times, row)
	}
	return fmt.Sprintf("the slowest move took %.1f ms of %d ms", milliseconds(worst), k.Clock.Move.Milliseconds()), warnings, nil
}

func (k *run) checkOutput() (note string, warnings []string, err error) {
	return k.extras.note(), k.extras.warnings(), nil
}
