package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
)

// Match is an attempt at a match on the machine that plays it.
type Match struct {
	Job
	// Program returns the bot of a slot, ready to be started, in its sandbox. It is called at
	// the beginning of each Play. An error is a failure of the machine or of the version, never
	// the bot's.
	Program func(ctx context.Context, slot int) (match.Bot, error)
	// Check returns an error if this machine cannot play at all; nil: it always can.
	Check func(context.Context) error
	Watch func(*referee.Game) // see match.Match; nil: nobody watches
	Void  func(deal, rotation int, err error)
	Busy  func(used time.Duration) // see match.Match

	games          []*referee.Result
	voids, starved int
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

// Play plays the match. The error is the context's, or a *Failure.
func (m *Match) Play(ctx context.Context) error {
	err := m.play(ctx)
	var failed *Failure
	switch {
	case err == nil, errors.Is(err, errEarly):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failed) && failed.Kind != FailedHouse:
		return failed
	}
	if m.Check != nil { // a machine that starts no programs starts no house bots
		if broken := m.Check(ctx); broken != nil {
			return &Failure{Kind: FailedMachine, Text: fmt.Sprintf("%s (%s)", broken, err)}
		}
	}
	if failed != nil {
		return failed
	}
	return &Failure{Kind: FailedReferee, Text: err.Error()}
}

func (m *Match) play(ctx context.Context) error {
	variant, err := ladder.Ladder{Game: m.Game, Options: m.Options}.Variant()
	if err != nil {
		return err
	}
	bots, err := m.programs(ctx)
	if err != nil {
		return err
	}
	match := &match.Match{
		Variant:  variant,
		Bots:     bots,
		Deals:    m.Deals,
		Seed:     rules.Seed(m.Seed),
		Clock:    m.Clock,
		Workers:  []int{m.Core},
		Together: m.Together,
		Watch:    m.Watch,
		Done:     m.done,
		Void:     m.void,
		Busy:     m.Busy,
	}
	return match.Play(ctx)
}

// programs returns the bots, under the names that they have in the match.
func (m *Match) programs(ctx context.Context) ([]match.Bot, error) {
	bots := make([]match.Bot, len(m.Bots))
	for slot, b := range m.Bots {
		p, err := m.Program(ctx, slot)
		var failed *Failure
		if errors.As(err, &failed) {
			return nil, err
		}
		if err != nil {
			return nil, notPrepared(b, err)
		}
		p.Name = b.Name
		bots[slot] = p
	}
	return bots, nil
}

// notPrepared returns the failure of a version whose program cannot be had.
func notPrepared(b Bot, err error) *Failure {
	return &Failure{Kind: FailedVersion, Version: b.Version, Text: fmt.Sprintf("version %d cannot be prepared: %s", b.Version, err)}
}

// done keeps a finished game. Where a house bot has failed the match is played again. A match in which
// a connection was lost ends with that game.
func (m *Match) done(g *referee.Result) error {
	for _, f := range g.Faults {
		slot := g.Bots[f.Seat]
		if m.Bots[slot].House != "" && program.HouseFailed(f) {
			at := referee.FaultAt{Deal: g.Match.Deal, Rotation: g.Match.Rotation, Bot: slot, Name: g.Seats[f.Seat].Name, Fault: f}
			return &Failure{Kind: FailedHouse, Version: m.Bots[slot].Version, Text: "a house bot failed: " + at.String()}
		}
	}
	cutInfo(&g.Replay)
	m.games = append(m.games, g)
	if lostConnection(g) {
		return errEarly
	}
	return nil
}

func (m *Match) void(deal, rotation int, err error) {
	m.voids++
	var starved *match.Starved
	if errors.As(err, &starved) {
		m.starved++
	}
	if m.Void != nil {
		m.Void(deal, rotation, err)
	}
}

// lostConnection reports whether a game was lost with a connection.
func lostConnection(g *referee.Result) bool {
	return slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Reason.Kind == fault.ConnectionLost })
}

// Result returns what is handed in after the last Play, which returned err: with the games if
// it returned nil, else with the Failure. The match is over.
func (m *Match) Result(err error) Result {
	r := Result{Match: m.Job.Match, Attempt: m.Attempt, Seed: m.Seed, Voids: m.voids, Starved: m.starved}
	var failed *Failure
	switch {
	case err == nil:
		m.seal()
		r.Games = m.games
	case errors.As(err, &failed):
		r.Failure = failed
	default:
		r.Failure = &Failure{Kind: FailedCancelled, Text: err.Error()}
	}
	return r
}

// seal prepares the games for the store: every replay gets the match's seed, and logs are cut
// to the shares of their slots, in the order of the deals.
func (m *Match) seal() {
	slices.SortFunc(m.games, func(a, b *referee.Result) int { return a.Match.Compare(b.Match) })
	shares := make([]logShare, len(m.Bots))
	for i := range shares {
		shares[i].left = keepMatchLog
	}
	for _, g := range m.games {
		g.Reveal(rules.Seed(m.Seed))
		for seat, slot := range g.Bots {
			faulty := slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Seat == seat })
			g.Logs[seat] = shares[slot].take(g.Logs[seat], faulty)
		}
	}
}
