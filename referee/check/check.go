// Package check is the conformance kit for authors of bots: it drives a bot
// through everything that SPEC.md says of bots, and tells what is wrong and what
// to change. The games are played by the rules that matches are played by.
package check

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Options say what to check and how.
type Options struct {
	Games    []rules.Game  // to play; nil for all that the bot claims
	Seed     rules.Seed    // of everything random
	Clock    referee.Clock // the time for a move, the margin and the start-up time
	Quick    bool          // every option once instead of every two together, fewer games
	Time     time.Duration // no more games are begun after it
	Patience time.Duration // how long a late bot is waited for, to learn why it is
	Outside  bool          // see whether a bot that fails when held works with all rights
	Pause    time.Duration // how long it is watched for lines that nobody asked for
	// Done is called with each check when it is finished, Progress while games
	// are played; either may be nil.
	Done     func(Check)
	Progress func(done, all int)
}

// Defaults are the options where nothing else is said.
func Defaults() Options {
	return Options{Clock: referee.DefaultClock, Time: 2 * time.Minute, Patience: 2 * time.Second, Pause: 50 * time.Millisecond}
}

// The names of the checks, in their order. The games, by their names, stand before
// Many.
const (
	Sandbox  = "sandbox"
	Manifest = "manifest"
	Start    = "start"
	First    = "first game"
	Many     = "many games"
	Silent   = "silence"
	Verbs    = "unknown verbs"
	Events   = "unknown events"
	Keys     = "unknown keys"
	Order    = "order of keys"
	Long     = "long lines"
	Pieces   = "lines in pieces"
	Faults   = "others' faults"
	Bank     = "bank"
	Bye      = "bye"
	Repeat   = "same seed"
	Time     = "time"
	Output   = "output"
)

// kit is a bot while it is checked.
type kit struct {
	Options
	ctx     context.Context
	program program.Program
	report  *Report
	began   time.Time
	session *session // the process that runs, nil for none
	saw     saw
	slowest time.Duration // start
	times   map[string]*timing
	first   *game // the game that every other check varies
	opening played
	many    manyGames
}

// timing are the moves of a game's games.
type timing struct {
	games int
	took  []time.Duration
}

// Run checks a bot. The error is the context's or a failure of our own.
func Run(ctx context.Context, p program.Program, o Options) (*Report, error) {
	if o.Games == nil {
		for _, g := range games.All() {
			if p.Plays(g.Name()) {
				o.Games = append(o.Games, g)
			}
		}
	}
	if len(o.Games) == 0 {
		return nil, fmt.Errorf("check: bot %s claims no game that there is: its manifest has games = %q", p.Name, p.Games)
	}
	for _, g := range o.Games {
		if !p.Plays(g.Name()) {
			return nil, fmt.Errorf("check: bot %s does not claim to play %s: its manifest has games = %q", p.Name, g.Name(), p.Games)
		}
	}
	if err := o.Clock.Check(); err != nil {
		return nil, err
	}
	p.Language = languageOf(p)
	// The bot's processes die with the thread that started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	k := &kit{Options: o, ctx: ctx, program: p, report: newReport(p, o), began: time.Now(), times: map[string]*timing{}}
	defer k.drop()
	if err := k.run(); err != nil {
		return nil, err
	}
	k.report.Seconds = time.Since(k.began).Seconds()
	return k.report, nil
}

// run makes the checks in order. What comes after a bot that cannot even play one
// game would only say so again.
func (k *kit) run() error {
	v := cover(k.Games[0], false)[0]
	k.first = &game{variant: v, seat: 0, seed: k.Seed.Derive("check/first"), clock: k.Clock}
	if !k.program.House {
		if err := k.check(Sandbox, k.sandboxed); err != nil {
			return err
		}
	}
	if k.program.Games != nil {
		if err := k.check(Manifest, k.manifest); err != nil {
			return err
		}
	}
	for _, c := range []step{{Start, k.start}, {First, k.firstGame}} {
		compared := func() (string, []string, error) {
			note, warnings, err := c.run()
			return note, warnings, k.compare(err)
		}
		if err := k.check(c.name, compared); err != nil {
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
		if err := k.check(c.name, c.run); err != nil {
			return err
		}
	}
	return nil
}

// step is a check by its name; run says what was seen, and what is not quite as
// it should be.
type step struct {
	name string
	run  func() (note string, warnings []string, err error)
}

// steps are the checks after those of many games.
func (k *kit) steps() []step {
	list := []step{{Silent, k.silence}}
	for _, d := range dresses {
		list = append(list, step{d.name, func() (string, []string, error) { return k.dressed(d) }})
	}
	return append(list,
		step{Pieces, k.pieces}, step{Faults, k.othersFaults}, step{Bank, k.bank},
		step{Bye, k.bye}, step{Repeat, k.repeat}, step{Time, k.timeUsed}, step{Output, k.output})
}

// check makes one check and takes its failure into the report.
func (k *kit) check(name string, run func() (string, []string, error)) error {
	note, warnings, err := run()
	return k.done(Check{Name: name, Status: OK, Note: note, Warnings: warnings}, err)
}

// done finishes a check that ended with an error or nil.
func (k *kit) done(c Check, err error) error {
	var f *Failure
	if err != nil && !errors.As(err, &f) {
		return err
	}
	if f != nil {
		c.Status, c.Failure, c.Note = Failed, f, f.Text
		k.drop()
	}
	k.report.add(c)
	if k.Done != nil {
		k.Done(k.report.Checks[len(k.report.Checks)-1])
	}
	return nil
}

func (k *kit) skipRest(after string) error {
	var names []string
	if after == Start {
		names = append(names, First)
	}
	for _, g := range k.Games {
		names = append(names, g.Name())
	}
	names = append(names, Many)
	for _, s := range k.steps() {
		if s.name != Output {
			names = append(names, s.name)
		}
	}
	for _, name := range names {
		if err := k.done(Check{Name: name, Status: Skipped, Note: fmt.Sprintf("not before %q is mended", after)}, nil); err != nil {
			return err
		}
	}
	if after == Start && k.saw.log == 0 {
		return nil // nothing was seen
	}
	return k.check(Output, k.output)
}

// use gives the running process, or a new one.
func (k *kit) use() (*session, error) {
	if k.session != nil {
		return k.session, nil
	}
	var err error
	k.session, err = k.launch()
	return k.session, err
}

// fresh gives a new process.
func (k *kit) fresh() (*session, error) {
	k.drop()
	return k.use()
}

// drop ends the running process, if there is one.
func (k *kit) drop() {
	if k.session != nil {
		k.session.close()
		k.session = nil
	}
}

// started notes how long a start took and what the bot says of itself.
func (k *kit) started(took time.Duration, ready protocol.BotLine) {
	k.slowest = max(k.slowest, took)
	k.report.StartMS = milliseconds(k.slowest)
	if k.report.Bot.Version == "" {
		k.report.Bot.Version = ready.Version
	}
}

// timed takes the times of a game that was told as the referee tells it.
func (k *kit) timed(g *game, p played) {
	name := g.variant.Game().Name()
	if k.times[name] == nil {
		k.times[name] = &timing{}
	}
	k.times[name].games++
	k.times[name].took = append(k.times[name].took, p.took...)
}

func (k *kit) manifest() (note string, warnings []string, err error) {
	for _, name := range k.program.Games {
		if _, err := games.Find(name); err != nil {
			warnings = append(warnings, fmt.Sprintf("games: %v", err))
		}
	}
	return "claims " + strings.Join(k.program.Games, ", "), warnings, nil
}

func (k *kit) start() (note string, warnings []string, err error) {
	began := time.Now()
	if _, err := k.fresh(); err != nil {
		return "", nil, err
	}
	if k.slowest > k.Clock.Startup/2 {
		warnings = append(warnings, fmt.Sprintf("the start takes more than half of the %d ms that it may take", k.Clock.Startup.Milliseconds()))
	}
	return fmt.Sprintf("ready after %d ms", time.Since(began).Milliseconds()), warnings, nil
}

func (k *kit) firstGame() (note string, warnings []string, err error) {
	k.opening, err = k.session.play(k.first)
	if err == nil {
		// What it writes after its last move is judged at its next turn.
		err = k.session.settle()
	}
	if err != nil {
		return "", nil, err
	}
	k.timed(k.first, k.opening)
	return fmt.Sprintf("%s: %d moves", k.first.variant.Game().Name(), len(k.opening.moves)), nil, nil
}

func (k *kit) timeUsed() (note string, warnings []string, err error) {
	var worst time.Duration
	for _, g := range k.Games {
		t := k.times[g.Name()]
		if t == nil {
			continue
		}
		slices.Sort(t.took)
		row := Times{Game: g.Name(), Games: t.games, Moves: len(t.took)}
		if n := len(t.took); n > 0 {
			most := t.took[n-1]
			row.MedianMS, row.WorstMS = milliseconds(t.took[n/2]), milliseconds(most)
			worst = max(worst, most)
			if most > k.Clock.Move/2 {
				warnings = append(warnings, fmt.Sprintf("%s: a move took %.1f ms, more than half of the %d ms that there are: a busy machine may make it late",
					g.Name(), row.WorstMS, k.Clock.Move.Milliseconds()))
			}
		}
		k.report.Times = append(k.report.Times, row)
	}
	return fmt.Sprintf("a move took %.1f ms at worst, of %d ms", milliseconds(worst), k.Clock.Move.Milliseconds()), warnings, nil
}

func (k *kit) output() (note string, warnings []string, err error) {
	return k.saw.note(), k.saw.warnings(), nil
}
