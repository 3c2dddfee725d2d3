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
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
)

// Options are how an attempt is played.
type Options struct {
	// Program returns the bot of a slot, ready to be started, in its sandbox. An error is a failure of
	// the machine or of the version, never the bot's.
	Program func(ctx context.Context, slot int) (match.Bot, error)
	Check   func(context.Context) error // returns an error if this machine cannot play; nil: it always can
	Watch   func(*referee.Game)         // see match.Observer; nil: nobody watches
	Journal *Journal                    // nil: none
}

// errEarly ends a match in which a connection was lost. Its games count.
var errEarly = errors.New("a connection was lost")

// Play plays an attempt at a match on this machine. Its result has the games, or why there are none: that of
// a context that has ended is FailedCancelled.
func Play(ctx context.Context, j Job, o Options) Result {
	if o.Journal == nil {
		o.Journal = &Journal{Log: slog.New(slog.DiscardHandler)}
	}
	began := time.Now()
	p := &run{Job: j, options: o, result: Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed}}
	r := &p.result
	if r.Failure = p.failure(ctx, p.play(ctx)); r.Failure != nil {
		r.Games = nil
	}
	for _, g := range r.Games {
		g.Reveal(rules.Seed(j.Seed))
	}
	Cut(r.Games, len(j.Bots))
	r.Took = time.Since(began)
	return *r
}

// run is an attempt while it is played.
type run struct {
	Job
	options Options
	result  Result
}

// failure returns why a match that ended with an error has no result; nil if it has one.
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
		if broken := p.options.Check(ctx); broken != nil {
			return &Failure{Kind: FailedMachine, Text: phrase.New("%s (%s)", broken, err)}
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
		Resources: match.Resources{Workers: []int{p.Core}, Together: p.ParallelRotations},
		Observer:  match.Observer{Watch: p.options.Watch, Trouble: p.recordTrouble},
	}
	return match.Play(ctx, p.addGame)
}

// programs returns the bots, under the names that they have in the match.
func (p *run) programs(ctx context.Context) ([]match.Bot, error) {
	bots := make([]match.Bot, len(p.Bots))
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

// addGame keeps a finished game. Where a house bot has failed the match is played again. A match in which
// a connection was lost ends with that game.
func (p *run) addGame(g *referee.Result) error {
	for _, f := range g.Faults {
		slot := g.Bots[f.Seat]
		if p.Bots[slot].House != "" && f.HouseFailed() {
			at := referee.FaultAt{Deal: g.Match.Deal, Rotation: g.Match.Rotation, Bot: slot, Name: g.Seats[f.Seat].Name, Fault: f}
			return &Failure{Kind: FailedHouse, Version: p.Bots[slot].Version, Text: phrase.New("a house bot failed: %s", at.Phrase())}
		}
	}
	for i, log := range g.Logs {
		g.Logs[i] = datadir.HideBotPaths(log)
	}
	cutInfo(&g.Replay)
	p.result.Games = append(p.result.Games, g)
	if slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Reason.Kind == fault.ConnectionLost }) {
		return errEarly
	}
	return nil
}

// recordTrouble counts void games, and logs them and that the machine is busy.
func (p *run) recordTrouble(err error) {
	switch e := err.(type) {
	case *match.Void:
		p.result.VoidGames++
		if _, ok := errors.AsType[*match.Starved](e); ok {
			p.result.StarvedGames++
		}
		p.options.Journal.Log.Warn("a game is void", "match", p.Match, "deal", e.Deal, "rotation", e.Rotation, "err", e.Err)
	case *match.Busy:
		p.options.Journal.logBusy(p.Job, e.Used)
	}
}

// Journal logs what happens to the matches of a machine.
type Journal struct {
	Log *slog.Logger

	mu           sync.Mutex
	busyLoggedAt time.Time // that the machine was busy
}

// logBusy logs that other programs use the core of a match, for all matches once a minute.
func (l *Journal) logBusy(j Job, used time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.busyLoggedAt) >= time.Minute {
		l.busyLoggedAt = now
		l.Log.Warn("the machine is busy", "match", j.Match, "core", j.Core, "others used of a second", used)
	}
}
