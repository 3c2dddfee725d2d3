package attempt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
)

// Options configures Play.
type Options struct {
	// Program returns the bot with the given index in the match, in its sandbox and ready to be started. If the error
	// is a *Failure, the match ends with that Failure; any other error becomes a PreparationFailure.
	Program func(ctx context.Context, slot int) (match.Contestant, error)
	Check   func(context.Context) error // returns an error if this machine cannot play; nil means that it always can
	Watch   func(*referee.Game)         // called with each position of a game; may be nil
	Journal *Journal                    // nil means that nothing is logged
}

// errEarly makes a match end early, after a game in which the connection of a bot was lost. The games so far are the
// result of the match.
var errEarly = errors.New("a connection was lost")

// Play plays the match of job j on this machine. The result has either the games or a Failure. If ctx ends before the
// last game, the kind of the Failure is FailedCancelled.
func Play(ctx context.Context, j Job, o Options) Result {
	if o.Journal == nil {
		o.Journal = &Journal{Log: slog.New(slog.DiscardHandler)}
	}
	start := time.Now()
	p := &run{Job: j, options: o, result: Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed}}
	r := &p.result
	if r.Failure = p.failure(ctx, p.play(ctx)); r.Failure != nil {
		r.Games = nil
	}
	for _, g := range r.Games {
		g.Reveal(rules.Seed(j.Seed))
	}
	Cut(r.Games, len(j.Bots))
	r.Took = time.Since(start)
	return *r
}

// run is the state of an attempt (a try to play a match) in progress.
type run struct {
	Job
	options Options
	result  Result
}

// failure returns the Failure of an attempt that ended with err. If err is nil or errEarly, the games so far are the
// result of the match, and failure returns nil.
func (p *run) failure(ctx context.Context, err error) *Failure {
	var failed *Failure
	switch {
	case err == nil, errors.Is(err, errEarly):
		return nil
	case ctx.Err() != nil:
		return &Failure{Kind: FailedCancelled, Text: phrase.FromError(ctx.Err())}
	case errors.As(err, &failed) && failed.Kind != FailedHouse:
		return failed
	}
	if p.options.Check != nil { // a machine that starts no programs starts no house bots
		if machineErr := p.options.Check(ctx); machineErr != nil {
			return &Failure{Kind: FailedMachine, Text: phrase.New("%s (%s)", machineErr, err)}
		}
	}
	if failed != nil {
		return failed
	}
	return &Failure{Kind: FailedReferee, Text: phrase.FromError(err)}
}

func (p *run) play(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.options.Journal.Log.Error("panic in a match", "match", p.Match, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	variant, err := ladder.Ladder{Game: p.Game, Options: p.Options}.Variant()
	if err != nil {
		return err
	}
	bots, err := p.programs(ctx)
	if err != nil {
		return err
	}
	match := &match.Match{
		Variant:   variant,
		Bots:      bots,
		Deals:     p.Deals,
		Seed:      rules.Seed(p.Seed),
		Clock:     p.Clock,
		Patience:  match.LatePatience,
		Resources: match.Resources{Workers: []int{p.Core}, ParallelRotations: p.ParallelRotations},
		Observer:  match.Observer{Watch: p.options.Watch, Trouble: p.recordTrouble},
	}
	return match.Play(ctx, p.addGame)
}

// programs returns the bots of the match, ready to be started, with their names in the job.
func (p *run) programs(ctx context.Context) ([]match.Contestant, error) {
	bots := make([]match.Contestant, len(p.Bots))
	for slot, b := range p.Bots {
		bot, err := p.options.Program(ctx, slot)
		if _, ok := errors.AsType[*Failure](err); ok {
			return nil, err
		}
		if err != nil {
			return nil, PreparationFailure(b, err)
		}
		bot.Name = b.Name
		bots[slot] = bot
	}
	return bots, nil
}

// addGame adds a finished game to the result. If a house bot (part of timba) failed in the game, it returns a
// *Failure. If the connection of a bot was lost or too slow, it returns errEarly.
func (p *run) addGame(g *referee.GameResult) error {
	for _, f := range g.Faults {
		slot := g.Bots[f.Seat]
		if p.Bots[slot].House != "" && f.HouseFailed() {
			at := referee.GameFault{Deal: g.Match.Deal, Rotation: g.Match.Rotation, Bot: slot, Name: g.Seats[f.Seat].Name, Fault: f}
			return &Failure{Kind: FailedHouse, Version: p.Bots[slot].Version, Text: phrase.New("a house bot failed: %s", at.Phrase())}
		}
	}
	for i, log := range g.Logs {
		g.Logs[i] = datadir.HideBotPaths(log)
	}
	cutInfo(&g.Replay)
	p.result.Games = append(p.result.Games, g)
	if slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Reason.Kind.IsOfConnection() }) {
		return errEarly
	}
	return nil
}

// recordTrouble logs a problem of the match. err is either a *match.VoidError or a *match.BusyError. The first means
// that a game does not count and is played again; recordTrouble counts such games. The second means that other
// programs use the core of the match.
func (p *run) recordTrouble(err error) {
	switch e := err.(type) {
	case *match.VoidError:
		p.result.VoidGames++
		if _, ok := errors.AsType[*match.StarvedError](e); ok {
			p.result.StarvedGames++
		}
		p.options.Journal.Log.Warn("a game is void", "match", p.Match, "deal", e.Deal, "rotation", e.Rotation, "err", e.Err)
	case *match.BusyError:
		p.options.Journal.logBusy(p.Job, e.OthersCPU)
	}
}

// Journal logs the problems of all matches on a machine: games that do not count and are played again, and other
// programs that use its cores.
type Journal struct {
	Log *slog.Logger

	mu           sync.Mutex
	busyLoggedAt time.Time // when logBusy last wrote a line
}

// logBusy logs that other programs used the core on which job j is played. used is the CPU time that they took within
// one second. For all matches together, it writes at most one line a minute.
func (l *Journal) logBusy(j Job, used time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.busyLoggedAt) >= time.Minute {
		l.busyLoggedAt = now
		l.Log.Warn("the machine is busy", "match", j.Match, "core", j.Core, "others_ms_per_second", used.Milliseconds())
	}
}
