package fleetbench

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

// poolSize is the number of matches that are really played.
const poolSize = 10

// pool has the games of matches that were played, of the shape of those of the ladder.
type pool [][]*referee.Result

// play plays the matches of the pool between house bots.
func play(ctx context.Context, l ladder.Ladder) (p pool, err error) {
	bot, err := program.Resolver{Builtins: house.Registry{}}.Resolve(ctx, "@random")
	if err != nil {
		return nil, err
	}
	bot.Bot.Sandbox = nil
	for range poolSize {
		j := fleet.Job{
			Game: l.Game, Options: l.Options, Deals: l.Deals, Rated: true, Clock: l.Clock,
			Seed: referee.Hex(referee.NewSeed()), Core: referee.AnyCore,
		}
		for slot := range l.Bots {
			j.Bots = append(j.Bots, fleet.Bot{Name: fmt.Sprint("bot", slot)})
		}
		m := fleet.Match{Job: j, Program: func(context.Context, int) (referee.Bot, error) { return bot.Bot, nil }}
		if err := m.Play(ctx); err != nil {
			return nil, err
		}
		r := m.Result(nil)
		p = append(p, r.Games)
	}
	return p, nil
}

// hand makes the games of one of the matches those of an attempt: with its seeds and its bots. Where
// the deals are by chance they are still those of the match that was played, which only a
// verification of the replays would find.
func (p pool) hand(m *fleet.Match) {
	games := make([]*referee.Result, 0, len(p[0]))
	seed := rules.Seed(m.Seed)
	commitment := referee.Commitment(seed)
	for _, played := range p[rand.IntN(len(p))] {
		g := *played
		g.Seed, g.Commitment = referee.Hex(referee.DealSeed(seed, g.Match.Deal)), commitment
		g.Options, g.Logs, g.Seats = maps.Clone(g.Options), slices.Clone(g.Logs), slices.Clone(g.Seats)
		for i, slot := range g.Bots {
			b := m.Bots[slot]
			g.Seats[i].Name, g.Seats[i].Version = b.Name, b.Label
			if b.House == "" { // that of the only house bot it has
				g.Seats[i].SHA256 = b.Hash
			}
			g.Seats[i].Seed = referee.BotSeed(seed, g.Match.Deal, g.Match.Rotation, i)
		}
		games = append(games, &g)
	}
	m.Put(games)
}
