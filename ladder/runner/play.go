package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// play plays one match on one core, to its end or until it is broken off.
func (r *Runner) play(ctx context.Context, o *outcome) {
	m := o.match
	seed := referee.NewSeed()
	attempt, err := r.Store.BeginAttempt(ctx, m.ID, referee.Commitment(seed), referee.Hex(seed))
	if err != nil {
		if ctx.Err() == nil {
			r.pause(fmt.Errorf("beginning match %d: %w", m.ID, err))
		}
		return
	}
	log := r.Log.With("match", m.ID, "ladder", m.Ladder, "attempt", attempt.Number)
	log.Debug("match begins", "versions", m.Versions, "commitment", attempt.Commitment.String())
	r.hub.publish(Event{Kind: MatchBegan, At: attempt.Began, Ladder: m.Ladder, Match: m.ID})

	began := time.Now()
	p := &played{Match: m, seed: seed}
	err = r.playGames(ctx, p, o.core)
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
	r.breakOff(ctx, o, err)
}

// played is a match while it is played.
type played struct {
	*ladder.Match
	seed     rules.Seed
	versions []ladder.Version // by slot
	games    []*referee.Game
}

// Whose failure it was that a match has no result. None is a bot's: bots' faults
// are part of the result.
type (
	houseError struct { // a bot that is part of this program
		version int64
		referee.FaultAt
	}
	versionError struct { // a version that cannot be had as a program
		version int64
		err     error
	}
	serverError struct{ error } // the machine, not this match
)

func (e houseError) Error() string { return "a house bot failed: " + e.String() }

func (e versionError) Error() string {
	return fmt.Sprintf("version %d cannot be had: %s", e.version, e.err)
}

func (r *Runner) playGames(ctx context.Context, p *played, core int) error {
	g, err := games.Find(p.Game)
	if err != nil {
		return err
	}
	variant, err := rules.Settle(g, p.Options)
	if err != nil {
		return err
	}
	bots, err := r.bots(ctx, p)
	if err != nil {
		return err
	}
	match := &referee.Match{
		Variant: variant,
		Bots:    bots,
		Deals:   p.Deals,
		Seed:    p.seed,
		Clock:   p.Clock.Clock,
		Lanes:   []int{core},
		Done:    p.done,
		Void: func(deal, rotation int, err error) {
			r.metrics.void.Inc()
			r.Log.Warn("a game is void", "match", p.ID, "deal", deal, "rotation", rotation, "err", err)
		},
	}
	err = match.Play(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if broken := r.Check(ctx); broken != nil {
		return serverError{fmt.Errorf("%w (%w)", broken, err)}
	}
	return err
}

// done takes a finished game. A fault of a house bot is one of the server's own:
// such a match is played again.
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
	return nil
}

// bots makes programs of the versions; those that are not of the house are held.
func (r *Runner) bots(ctx context.Context, p *played) ([]referee.Bot, error) {
	var bots []referee.Bot
	taken := map[string]bool{}
	for _, id := range p.Versions {
		v, err := r.Store.Version(ctx, id)
		if err != nil {
			return nil, serverError{err}
		}
		bot, err := r.Resolve(ctx, v)
		if err != nil {
			return nil, versionError{id, err}
		}
		if bot.Hold = nil; !v.House() {
			bot.Hold = r.Hold
		}
		bot.Name = uniqueName(v, taken)
		p.versions = append(p.versions, v)
		bots = append(bots, bot)
	}
	return bots, nil
}

// uniqueName is the bot's name, with the version's number where another version
// of the bot plays, too.
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

// result is what is kept of a match, its seed in every replay.
func (p *played) result() []ladder.Game {
	slices.SortFunc(p.games, func(a, b *referee.Game) int {
		if a.Match.Deal != b.Match.Deal {
			return a.Match.Deal - b.Match.Deal
		}
		return a.Match.Rotation - b.Match.Rotation
	})
	shares := make([]logShare, len(p.Versions))
	for i := range shares {
		shares[i].left = keepMatchLog
	}
	var kept []ladder.Game
	for _, g := range p.games {
		g.Reveal(p.seed)
		k := ladder.Game{MatchID: p.ID, Deal: g.Match.Deal, Rotation: g.Match.Rotation, Plies: len(g.Moves), Took: g.Took, Replay: g.Encode()}
		for seat, slot := range g.Bots {
			s := ladder.GameSeat{Seat: seat, Slot: slot, Rank: g.Ranks[seat], Points: g.Points[seat]}
			for _, f := range g.Faults {
				if f.Seat != seat {
					continue
				}
				if s.Faults++; s.Faults == 1 {
					s.Fault = string(f.Code)
				}
			}
			k.Seats = append(k.Seats, s)
			if log := shares[slot].take(g.Logs[seat], s.Faults > 0); len(log) > 0 {
				k.Logs = append(k.Logs, ladder.GameLog{Seat: seat, Text: log})
			}
		}
		kept = append(kept, k)
	}
	return kept
}
