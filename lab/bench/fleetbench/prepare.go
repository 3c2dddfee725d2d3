package fleetbench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// smallest is the name of the ladder of the smallest matches: two games on the smallest board.
const smallest = "smallest"

// settings are those of the server, with that ladder.
const settings = `pause = 0
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

// clock is that of the ladder: the matches of the pool are played on a machine that may be busy.
var clock = referee.Clock{Move: 20 * time.Second, Startup: time.Minute}

// configOf returns the configuration of the server, with one ladder: one of the default configuration,
// or "" for the smallest.
func configOf(ladderName string) (*config.Config, error) {
	c, err := config.Parse("bench fleet", []byte(settings), house.Registry{})
	if err != nil {
		return nil, err
	}
	if ladderName != "" {
		all := config.Default(house.Registry{}).Ladders
		i := slices.IndexFunc(all, func(l ladder.Ladder) bool { return l.Name == ladderName })
		if i < 0 {
			return nil, fmt.Errorf("bench fleet: the default configuration has no ladder %q: try brisca-2", ladderName)
		}
		all[i].House = c.Ladders[0].House
		c.Ladders = all[i : i+1]
	}
	c.Ladders[0].Clock = clock
	c.Sandbox = sandbox.None
	return c, nil
}

// prepare makes what all measurements begin with: the data directory of a server with all versions
// live, credentials of the workers, and matches to hand in.
func (w shape) prepare(ctx context.Context, work place) error {
	c, err := configOf(w.Ladder)
	if err != nil {
		return err
	}
	dir := datadir.Dir(work.template())
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		return err
	}
	if err := w.fill(ctx, dir, c); err != nil {
		return err
	}
	if err := addWorkers(dir, work, slices.Max(w.Workers)); err != nil {
		return err
	}
	games, err := play(ctx, c.Ladders[0])
	if err != nil {
		return err
	}
	return writeJSON(work.pool(), games)
}

// botScript is the upload and the built file of all versions, which nobody runs.
const botScript = "exit 1\n"

// botsEach is how many bots a person has.
const botsEach = 10

// fill makes all versions live, each a bot of its own.
func (w shape) fill(ctx context.Context, dir datadir.Dir, c *config.Config) (err error) {
	s, err := store.Open(string(dir), store.Options{Server: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.SyncLadders(ctx, c.Ladders); err != nil {
		return err
	}
	built := store.Built{Hash: hashOf(botScript), Language: "sh", Command: []string{"sh", "bot.sh"}}
	files := dir.Bot(built.Hash)
	bundle, err := dir.Bundle(built.Hash)
	if err != nil {
		return err
	}
	for _, path := range []string{filepath.Join(files, "bot.sh"), bundle} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(botScript), 0o644)); err != nil {
			return err
		}
	}
	var person ladder.Person
	for i := range w.Versions {
		if i%botsEach == 0 {
			if person, err = s.AddPerson(ctx, fmt.Sprint("person", i), false); err != nil {
				return err
			}
		}
		if err := addVersion(ctx, s, person, fmt.Sprint("bot", i), built, c.Limits); err != nil {
			return err
		}
	}
	return nil
}

func addVersion(ctx context.Context, s *store.Store, person ladder.Person, bot string, built store.Built, limits ladder.Limits) error {
	v, err := s.AddVersion(ctx, person.ID, store.NewVersion{Bot: bot, Bundle: built.Hash}, limits)
	if err != nil {
		return err
	}
	if err := s.SetBuilt(ctx, v.ID, built); err != nil {
		return err
	}
	return s.Promote(ctx, v.ID)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// addWorkers gives credentials to n workers.
func addWorkers(dir datadir.Dir, work place, n int) error {
	keys, err := fleet.OpenKeys(dir.Fleet())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(work.creds(0)), 0o700); err != nil {
		return err
	}
	for i := range n {
		creds, err := keys.Add(workerName(i))
		if err != nil {
			return err
		}
		if err := os.WriteFile(work.creds(i), creds, 0o600); err != nil {
			return err
		}
	}
	return nil
}
