package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
)

// PlayOptions are how a machine plays an attempt.
type PlayOptions struct {
	// Program returns the bot of a slot, ready to be started, in its sandbox. An error is a failure of
	// the machine or of the version, never the bot's.
	Program func(ctx context.Context, slot int) (match.Bot, error)
	Check   func(context.Context) error // returns an error if this machine cannot play; nil: it always can
	Watch   func(*referee.Game)         // see match.Match; nil: nobody watches
	Journal *Journal                    // nil: none
}

// The kinds of a Failure.
const (
	FailedHouse     = "house"     // a bot that is part of the program
	FailedVersion   = "version"   // a version whose program cannot be prepared
	FailedMachine   = "machine"   // the machine, not this match
	FailedReferee   = "referee"   // the referee, again and again
	FailedCancelled = "cancelled" // the match was ended before its time
)

var failureKinds = []string{FailedHouse, FailedVersion, FailedMachine, FailedReferee, FailedCancelled}

// Error returns the text.
func (f *Failure) Error() string { return f.Text }

// errEarly ends a match in which a connection was lost. Its games count.
var errEarly = errors.New("a connection was lost")

// Play plays an attempt at a match on this machine. Its result has the games, or why there are none: that of
// a context that has ended is FailedCancelled.
func Play(ctx context.Context, j Job, o PlayOptions) Result {
	if o.Journal == nil {
		o.Journal = &Journal{Log: slog.New(slog.DiscardHandler)}
	}
	began := time.Now()
	p := &run{Job: j, PlayOptions: o, result: Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed}}
	r := &p.result
	if r.Failure = p.failure(ctx, p.play(ctx)); r.Failure != nil {
		r.Games = nil
	}
	for _, g := range r.Games {
		g.Reveal(rules.Seed(j.Seed))
	}
	cutMatch(r.Games, len(j.Bots))
	r.Took = time.Since(began)
	return *r
}

// failed returns the result of a job that this machine could not play.
func failed(j Job, err error) Result {
	f := &Failure{Kind: FailedMachine, Text: err.Error()}
	if errors.Is(err, context.Canceled) {
		f.Kind = FailedCancelled
	}
	return Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed, Failure: f}
}

// run is an attempt while it is played.
type run struct {
	Job
	PlayOptions
	result Result
}

// failure returns why a match that ended with an error has no result; nil if it has one.
func (p *run) failure(ctx context.Context, err error) *Failure {
	var failed *Failure
	switch {
	case err == nil, errors.Is(err, errEarly):
		return nil
	case ctx.Err() != nil:
		return &Failure{Kind: FailedCancelled, Text: ctx.Err().Error()}
	case errors.As(err, &failed) && failed.Kind != FailedHouse:
		return failed
	}
	if p.Check != nil { // a machine that starts no programs starts no house bots
		if broken := p.Check(ctx); broken != nil {
			return &Failure{Kind: FailedMachine, Text: fmt.Sprintf("%s (%s)", broken, err)}
		}
	}
	if failed != nil {
		return failed
	}
	return &Failure{Kind: FailedReferee, Text: err.Error()}
}

func (p *run) play(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.Journal.Log.Error("panic in a match", "match", p.Match, "panic", v, "stack", string(debug.Stack()))
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
		Variant:  variant,
		Bots:     bots,
		Deals:    p.Deals,
		Seed:     rules.Seed(p.Seed),
		Clock:    p.Clock,
		Workers:  []int{p.Core},
		Together: p.Together,
		Patience: match.LatePatience,
		Watch:    p.Watch,
		Done:     p.done,
		Void:     p.void,
		Busy:     func(used time.Duration) { p.Journal.busy(p.Job, used) },
	}
	return match.Play(ctx)
}

// programs returns the bots, under the names that they have in the match.
func (p *run) programs(ctx context.Context) ([]match.Bot, error) {
	bots := make([]match.Bot, len(p.Bots))
	for slot, b := range p.Bots {
		bot, err := p.Program(ctx, slot)
		var failed *Failure
		if errors.As(err, &failed) {
			return nil, err
		}
		if err != nil {
			return nil, notPrepared(b, err)
		}
		bot.Name = b.Name
		bots[slot] = bot
	}
	return bots, nil
}

// notPrepared returns the failure of a version whose program cannot be had.
func notPrepared(b Bot, err error) *Failure {
	return &Failure{Kind: FailedVersion, Version: b.Version, Text: fmt.Sprintf("version %d cannot be prepared: %s", b.Version, err)}
}

// done keeps a finished game. Where a house bot has failed the match is played again. A match in which
// a connection was lost ends with that game.
func (p *run) done(g *referee.Result) error {
	for _, f := range g.Faults {
		slot := g.Bots[f.Seat]
		if p.Bots[slot].House != "" && program.HouseFailed(f) {
			at := referee.FaultAt{Deal: g.Match.Deal, Rotation: g.Match.Rotation, Bot: slot, Name: g.Seats[f.Seat].Name, Fault: f}
			return &Failure{Kind: FailedHouse, Version: p.Bots[slot].Version, Text: "a house bot failed: " + at.String()}
		}
	}
	cutInfo(&g.Replay)
	p.result.Games = append(p.result.Games, g)
	if lostConnection(g) {
		return errEarly
	}
	return nil
}

// lostConnection reports whether a game was lost with a connection.
func lostConnection(g *referee.Result) bool {
	return slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Reason.Kind == fault.ConnectionLost })
}

func (p *run) void(deal, rotation int, err error) {
	p.result.Voids++
	var starved *match.Starved
	if errors.As(err, &starved) {
		p.result.Starved++
	}
	p.Journal.Log.Warn("a game is void", "match", p.Match, "deal", deal, "rotation", rotation, "err", err)
}

// Journal logs what happens to the matches of a machine.
type Journal struct {
	Log *slog.Logger

	mu   sync.Mutex
	last time.Time // that the machine was busy
}

// busy logs that other programs use the core of a match, for all matches once a minute.
func (l *Journal) busy(j Job, used time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.last) >= time.Minute {
		l.last = now
		l.Log.Warn("the machine is busy", "match", j.Match, "core", j.Core, "others used of a second", used)
	}
}

// PlayAtRandom returns a result of a job that its bots could have, without them, with random moves: for a
// worker that tests a server.
func PlayAtRandom(j Job) Result {
	r := Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed}
	v, err := ladder.Ladder{Game: j.Game, Options: j.Options}.Variant()
	if err != nil {
		return failed(j, err)
	}
	for deal := range j.Deals {
		for rotation := range j.Bots {
			g, err := j.randomGame(v, deal, rotation)
			if err != nil {
				return failed(j, err)
			}
			g.Reveal(rules.Seed(j.Seed))
			r.Games = append(r.Games, g)
		}
	}
	return r
}

func (m *Job) randomGame(v *rules.Variant, deal, rotation int) (*referee.Result, error) {
	seed := rules.Seed(m.Seed)
	head := referee.Replay{
		Timba: protocol.Version, Game: m.Game, Options: v.Settings.Map(),
		Seed: referee.Hex(referee.DealSeed(seed, deal)), Commitment: referee.Commitment(seed),
		Match: referee.ReplayMatch{Deal: deal, Rotation: rotation}, Clock: m.Clock.InReplay(),
	}
	r := &referee.Result{Logs: make([][]byte, v.Players), Took: time.Millisecond}
	for seat := range v.Players {
		slot := rules.BotAt(seat, rotation, len(m.Bots))
		b := m.Bots[slot]
		hash := b.Hash
		if b.House != "" {
			hash = strings.Repeat("0", len(referee.Hex{}.String()))
		}
		r.Bots = append(r.Bots, slot)
		head.Seats = append(head.Seats, referee.ReplaySeat{
			Name: b.Name, Version: b.Label, SHA256: hash, Seed: referee.BotSeed(seed, deal, rotation, seat),
		})
	}
	g := referee.NewGame(v, head, 0)
	var legal []rules.Move
	for g.Begin(); !g.Over(); {
		legal = g.State.Legal(legal[:0])
		move := g.State.MoveText(nil, legal[rand.IntN(len(legal))])
		if err := g.Move(move, referee.Spent{Took: time.Millisecond}, nil); err != nil {
			return nil, err
		}
	}
	g.End()
	r.Replay = g.Record
	return r, nil
}
