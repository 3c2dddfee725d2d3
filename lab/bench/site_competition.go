package bench

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/podrida"
)

var houseNames = []string{"@random", "@first", "@greedy"}

// siteCompetition is a competition whose matches consist of random moves.
type siteCompetition struct {
	*store.Store
	config       *config.Config
	ladders      []ladder.Ladder
	liveVersions []int64                  // IDs of the versions of people and of house bots
	pool         map[string][]playedMatch // played matches by name of the ladder, which are stored repeatedly
	games        []int64                  // IDs of the games whose pages are measured
	largeGames   []int64                  // IDs of games with the most seats
	rand         *rand.Rand
}

func fakeHash(n int) string { return fmt.Sprintf("%064x", n+1) }

func newSiteCompetition(ctx context.Context, dir string, b Site) (*siteCompetition, error) {
	c := &siteCompetition{config: config.Default(), pool: map[string][]playedMatch{}, rand: rand.New(rand.NewPCG(1, 1))}
	c.config.Limits.Requests = 1 << 30
	for i := range c.config.Ladders {
		c.config.Ladders[i].Deals, c.config.Ladders[i].Clock.Move = 1, time.Minute
	}
	c.ladders = c.config.Ladders
	c.config.Ladders = append(slices.Clone(c.ladders), largestLadder(c.ladders))
	var err error
	if c.Store, err = store.Open(dir, store.Options{Server: true}); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return c.addVersions(ctx, b.Bots) },
		c.playPool,
		func() error { return c.fillMatches(ctx, b.Matches) },
		func() error { return c.playLarge(ctx) },
		func() error { return c.chooseGames(ctx, b.Matches) },
	} {
		if err := step(); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// addVersions adds the house bots (part of timba) and n bots of invented people. All of them play on all ladders.
func (c *siteCompetition) addVersions(ctx context.Context, n int) (err error) {
	var bots []store.HouseBot
	for _, name := range houseNames {
		bots = append(bots, store.HouseBot{Name: name, Label: "1", Hash: fakeHash(0)})
	}
	if err := c.Bots.SyncHouse(ctx, bots); err != nil {
		return err
	}
	c.liveVersions, err = addBots(ctx, c.Store, n, 1, 2, func(bot, version int) store.BuildInfo {
		language := []string{"Go", "Python", "C", "Rust"}[bot%4]
		return store.BuildInfo{Label: "1.0", Hash: fakeHash(version), Language: language, Command: []string{"./bot"}}
	})
	if err != nil {
		return err
	}
	for i := range c.config.Ladders {
		c.config.Ladders[i].House = houseNames
	}
	if err := c.Ladders.Sync(ctx, c.config.Ladders); err != nil { // adds all bots to all ladders
		return err
	}
	for _, name := range houseNames {
		b, err := c.Bots.Find(ctx, name)
		if err != nil {
			return err
		}
		places, err := c.Ladders.PlacesOfBot(ctx, b.ID)
		if err != nil {
			return err
		}
		c.liveVersions = append(c.liveVersions, places[0].VersionID)
	}
	return nil
}

// sitePool is the number of matches that are played for each ladder. Each of these matches is stored many times,
// each time with other versions as its bots.
const sitePool = 20

func (c *siteCompetition) playPool() error {
	for _, l := range c.ladders {
		for range sitePool {
			p, err := playLadder(l)
			if err != nil {
				return err
			}
			c.pool[l.Name] = append(c.pool[l.Name], p)
		}
	}
	return nil
}

// largestLadder returns a ladder for Podrida games with the largest possible number of players. The site has its
// largest pages for these games. Apart from the name and the number of players, the ladder is a copy of the ladder
// of Podrida in ladders.
func largestLadder(ladders []ladder.Ladder) ladder.Ladder {
	l := ladders[slices.IndexFunc(ladders, func(l ladder.Ladder) bool { return l.Game == podrida.Game.Name })]
	l.Options = maps.Clone(l.Options)
	l.Name, l.Bots, l.Options["players"] = "podrida-12", largeSeats, strconv.Itoa(largeSeats)
	return l
}

const largeSeats = 12

// playLarge plays a match of the ladder that largestLadder returned, stores the match, and sets c.largeGames to the
// IDs of its games.
func (c *siteCompetition) playLarge(ctx context.Context) error {
	p, err := playLadder(c.config.Ladders[len(c.ladders)])
	if err != nil {
		return err
	}
	p.Versions = c.liveVersions[:largeSeats]
	if err := c.storeMatches(ctx, p); err != nil {
		return err
	}
	matches, err := c.Matches.List(ctx, store.MatchFilter{Ladder: p.Ladder, Limit: 1})
	if err != nil {
		return err
	}
	c.largeGames, err = c.gamesOf(ctx, matches[0].ID)
	return err
}

func (c *siteCompetition) chooseGames(ctx context.Context, matches int) error {
	for range 1000 {
		games, err := c.gamesOf(ctx, 1+c.rand.Int64N(int64(max(matches, 1))))
		if err != nil {
			return err
		}
		c.games = append(c.games, games...)
	}
	return nil
}

func (c *siteCompetition) gamesOf(ctx context.Context, match int64) (ids []int64, err error) {
	games, err := c.Matches.Games(ctx, match)
	for _, g := range games {
		ids = append(ids, g.ID)
	}
	return ids, err
}

// nextMatch returns a match that was played before, but with other bots. They are chosen at random from 40
// neighboring entries of liveVersions.
func (c *siteCompetition) nextMatch(r *rand.Rand) playedMatch {
	l := c.ladders[r.IntN(len(c.ladders))]
	p := c.pool[l.Name][r.IntN(len(c.pool[l.Name]))]
	p.Versions = nil
	for at := r.IntN(len(c.liveVersions)); len(p.Versions) < l.Bots; {
		if id := c.liveVersions[(at+r.IntN(40))%len(c.liveVersions)]; !slices.Contains(p.Versions, id) {
			p.Versions = append(p.Versions, id)
		}
	}
	return p
}

// batchMatches is the number of matches that are stored in one call while the database is filled.
const batchMatches = 500

func (c *siteCompetition) fillMatches(ctx context.Context, n int) error {
	for ; n > 0; n -= batchMatches {
		var list []playedMatch
		for range min(n, batchMatches) {
			list = append(list, c.nextMatch(c.rand))
		}
		if err := c.storeMatches(ctx, list...); err != nil {
			return err
		}
	}
	return nil
}

// storeMatches stores all matches in list: first as started, then, concurrently, as finished. A server stores
// matches in the same way.
func (c *siteCompetition) storeMatches(ctx context.Context, list ...playedMatch) error {
	var starts []store.MatchStart
	for _, p := range list {
		starts = append(starts, store.MatchStart{New: &p.NewMatch, Seed: rules.Seed(p.Seed)})
	}
	var group errgroup.Group
	for i, begun := range c.Matches.Start(ctx, starts) {
		group.Go(func() error {
			if begun.Err != nil {
				return begun.Err
			}
			_, err := c.Matches.Finish(ctx, begun.Match.ID, begun.Attempt.Number, list[i].Games)
			return err
		})
	}
	return group.Wait()
}
