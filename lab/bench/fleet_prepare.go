package bench

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sandbox"
)

// smallest is the name of the ladder of the smallest matches: two games on the smallest board.
const smallest = "smallest"

// fleetSettings are those of the server, with that ladder.
const fleetSettings = `pause = 0
idle = 0
[limits]
bots = 1000000
versions = 1000000
requests = 1000000
anonymous = 1000000
[[ladder]]
name = "smallest"
game = "tebes"
options = {size = "4"}
deals = 1
clock = {movetime = 20000}
house = ["@random"]
`

// fleetClock is that of the ladder: the matches of the pool are played on a machine that may be busy.
var fleetClock = referee.Clock{Move: 20 * time.Second, Startup: time.Minute}

// fleetConfig returns the configuration of the server, with one ladder: one of the default configuration,
// or "" for the smallest.
func fleetConfig(ladderName string) (*config.Config, error) {
	c, err := config.Parse("bench fleet", []byte(fleetSettings))
	if err != nil {
		return nil, err
	}
	if ladderName != "" {
		all := config.Default().Ladders
		i := slices.IndexFunc(all, func(l ladder.Ladder) bool { return l.Name == ladderName })
		if i < 0 {
			return nil, fmt.Errorf("bench fleet: the default configuration has no ladder %q: try brisca-2", ladderName)
		}
		all[i].House = c.Ladders[0].House
		c.Ladders = all[i : i+1]
	}
	c.Ladders[0].Clock = fleetClock
	c.Sandbox = sandbox.None
	return c, nil
}

// prepare makes what all measurements begin with: the data directory of a server with all versions
// live, credentials of the workers, and matches to hand in.
func (d fleetDirs) prepare(ctx context.Context, ladder string, versions, workers int) error {
	c, err := fleetConfig(ladder)
	if err != nil {
		return err
	}
	dir := datadir.Dir(d.template())
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		return err
	}
	if err := fillFleet(ctx, dir, c, versions); err != nil {
		return err
	}
	if err := d.addWorkers(dir, workers); err != nil {
		return err
	}
	games, err := playPool(ctx, c.Ladders[0])
	if err != nil {
		return err
	}
	data, err := json.Marshal(games)
	if err != nil {
		return err
	}
	return os.WriteFile(d.pool(), data, 0o600)
}

// botScript is the upload and the built file of all versions, which nobody runs.
const botScript = "exit 1\n"

// fillFleet makes all versions live, each a bot of its own.
func fillFleet(ctx context.Context, dir datadir.Dir, c *config.Config, versions int) (err error) {
	s, err := store.Open(string(dir), store.Options{Server: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.SyncLadders(ctx, c.Ladders); err != nil {
		return err
	}
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(botScript)))
	bundle, err := dir.Bundle(hash)
	if err != nil {
		return err
	}
	for _, path := range []string{filepath.Join(dir.Bot(hash), "bot.sh"), bundle} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(botScript), 0o644)); err != nil {
			return err
		}
	}
	_, err = addBots(ctx, s, versions, 10, 1, func(int, int) store.Built {
		return store.Built{Hash: hash, Language: "sh", Command: []string{"sh", "bot.sh"}}
	})
	return err
}

// addWorkers gives credentials to n workers.
func (d fleetDirs) addWorkers(dir datadir.Dir, n int) error {
	keys, err := fleet.OpenKeys(dir.Fleet())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(d.creds(0)), 0o700); err != nil {
		return err
	}
	for i := range n {
		creds, err := keys.Add(workerName(i))
		if err != nil {
			return err
		}
		if err := os.WriteFile(d.creds(i), creds, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// pool has the games of matches that were played, of the shape of those of the ladder.
type pool [][]*referee.Result

// playPool plays the matches of the pool between house bots.
func playPool(ctx context.Context, l ladder.Ladder) (p pool, err error) {
	bot, err := findBot(ctx, "@random")
	if err != nil {
		return nil, err
	}
	for range 10 {
		played, err := playLadder(ctx, l, func(int) match.Bot { return bot })
		if err != nil {
			return nil, err
		}
		p = append(p, played.Games)
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
