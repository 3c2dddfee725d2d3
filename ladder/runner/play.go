package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
)

// play plays one match on one core, until it ends or is interrupted.
func (r *Runner) play(ctx context.Context, o *outcome) {
	m := o.match
	p := &played{Match: m}
	var shared *share
	if o.asked() {
		left := r.timeLeft(m)
		if left <= 0 {
			r.overTime(ctx, m)
			return
		}
		under, over := context.WithCancelCause(ctx)
		defer over(nil)
		ctx = under
		shared = newShare(o.job, left, func() { over(errOverTime) })
		defer shared.over.Stop()
	}
	seed := referee.NewSeed()
	attempt, err := r.Store.BeginAttempt(ctx, m.ID, referee.Commitment(seed), referee.Hex(seed))
	if err != nil {
		if ctx.Err() == nil && ladder.CodeOf(err) != ladder.Conflict { // it was cancelled
			r.pause(fmt.Errorf("beginning match %d: %w", m.ID, err))
		}
		return
	}
	log := r.Log.With("match", m.ID, "ladder", m.Ladder, "attempt", attempt.Number)
	log.Debug("match begins", "versions", m.Versions, "commitment", attempt.Commitment.String())
	r.Events.Publish(events.Event{Kind: events.MatchBegan, At: attempt.Began, Ladder: m.Ladder, Match: m.ID})

	began := time.Now()
	p.seed = seed
	if shared == nil {
		err = r.playGames(ctx, p, o.job)
	} else {
		p.yield = shared.yield
		err = r.playShared(ctx, p, shared)
	}
	o.took = time.Since(began)
	if err == nil {
		err = r.finish(ctx, p, o.took)
	}
	if err == nil {
		o.fine = append(o.fine, matchName(m.ID), ladderName(m.Ladder))
		for _, v := range m.Versions {
			o.fine = append(o.fine, versionName(v))
		}
		return
	}
	switch {
	case context.Cause(ctx) == errOverTime:
		r.overTime(ctx, m)
	case r.unwanted(context.WithoutCancel(ctx), o.job):
		r.cancelled(m)
	default:
		r.interrupt(ctx, o, err)
	}
}

// played is a match while it is played.
type played struct {
	*ladder.Match
	seed     rules.Seed
	yield    func(context.Context) error
	versions []ladder.Version // by slot
	games    []*referee.Game
}

// The failures that leave a match without a result. None is a bot's: bots' faults are
// part of the result.
type (
	houseError struct { // a bot that is part of this program
		version int64
		referee.FaultAt
	}
	versionError struct { // a version whose program cannot be prepared
		version int64
		err     error
	}
	serverError struct{ error } // the machine, not this match
)

func (e houseError) Error() string { return "a house bot failed: " + e.String() }

func (e versionError) Error() string {
	return fmt.Sprintf("version %d cannot be prepared: %s", e.version, e.err)
}

// Watcher sees a match as it is played. It must not make the match wait.
type Watcher interface {
	// Position is called with each position; see referee.Match.Watch.
	Position(referee.Position)
	// End is called when no more positions come: the match has ended, is interrupted, or pauses.
	End()
}

func (r *Runner) playGames(ctx context.Context, p *played, j *job) error {
	variant, err := p.Variant()
	if err != nil {
		return err
	}
	bots, err := r.bots(ctx, p)
	if err != nil {
		return err
	}
	match := &referee.Match{
		Variant:  variant,
		Bots:     bots,
		Deals:    p.Deals,
		Seed:     p.seed,
		Clock:    p.Clock,
		Workers:  []int{j.core},
		Together: j.rotations,
		Yield:    p.yield,
		Done:     p.done,
		Void: func(deal, rotation int, err error) {
			r.metrics.void.Inc()
			r.Log.Warn("a game is void", "match", p.ID, "deal", deal, "rotation", rotation, "err", err)
		},
	}
	if p.yield != nil {
		p.earlier(match)
	}
	// Who plays from outside could be helped by what is seen of a deal in another rotation.
	if r.Watch != nil && !(p.Rated && slices.Contains(p.Remote, true)) {
		if w := r.Watch(p.Match, p.versions); w != nil {
			match.Watch = w.Position
			defer w.End()
		}
	}
	err = match.Play(ctx)
	if errors.Is(err, errEarly) {
		return nil
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	if broken := r.Check(ctx); broken != nil {
		return serverError{fmt.Errorf("%w (%w)", broken, err)}
	}
	return err
}

// done adds a finished game. A fault of a house bot is a failure of the server: the
// match is played again. A match in which a connection was lost ends with that game.
func (p *played) done(g *referee.Game) error {
	for _, f := range g.Faults {
		slot := g.Bots[f.Seat]
		if p.versions[slot].House() {
			return houseError{p.versions[slot].ID, referee.FaultAt{
				Deal: g.Match.Deal, Rotation: g.Match.Rotation, Bot: slot, Name: g.Seats[f.Seat].Name, Fault: f,
			}}
		}
	}
	cutInfo(&g.Replay)
	p.games = append(p.games, g)
	if lostConnection(g) {
		return errEarly
	}
	return nil
}

// bots returns the programs of the versions; all but house bots and remote ones are
// sandboxed.
func (r *Runner) bots(ctx context.Context, p *played) ([]referee.Bot, error) {
	var bots []referee.Bot
	p.versions = nil
	taken := map[string]bool{}
	for _, id := range p.Versions {
		v, err := r.Store.Version(ctx, id)
		if err != nil {
			return nil, serverError{err}
		}
		bot, err := r.program(ctx, v, p.Match)
		if err != nil {
			return nil, versionError{id, err}
		}
		if bot.Sandbox = nil; bot.Serve == nil && !v.House() {
			bot.Sandbox = r.Sandbox
		}
		bot.Name = uniqueName(v, taken)
		p.versions = append(p.versions, v)
		bots = append(bots, bot)
	}
	return bots, nil
}

func (r *Runner) program(ctx context.Context, v ladder.Version, m *ladder.Match) (referee.Bot, error) {
	if v.Remote {
		return r.Remote(v, m), nil
	}
	return r.Resolve(ctx, v)
}

// uniqueName returns the bot's name, with the version's number if another version of
// the bot plays, too.
func uniqueName(v ladder.Version, taken map[string]bool) string {
	name := v.Bot
	if taken[name] {
		name = fmt.Sprintf("%s/%d", v.Bot, v.Number)
	}
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s/%d#%d", v.Bot, v.Number, n)
	}
	taken[name] = true
	return name
}

// seal prepares the games for the store: every replay gets the match's seed, and logs
// are cut to the shares of their slots, in the order of the deals.
func (p *played) seal() {
	slices.SortFunc(p.games, func(a, b *referee.Game) int { return a.Match.Compare(b.Match) })
	shares := make([]logShare, len(p.Versions))
	for i := range shares {
		shares[i].left = keepMatchLog
	}
	for _, g := range p.games {
		g.Reveal(p.seed)
		for seat, slot := range g.Bots {
			faulty := slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Seat == seat })
			g.Logs[seat] = shares[slot].take(g.Logs[seat], faulty)
		}
	}
}
