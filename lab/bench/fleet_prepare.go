package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/sandbox"
)

// smallestLadder is the name of the ladder in fleetSettings. Each of its matches is as small as possible: two games
// on the smallest board.
const smallestLadder = "smallest"

// fleetSettings is the configuration file of the server, in TOML. Its only ladder is smallestLadder.
const fleetSettings = `pause = 0
[limits]
bots = 1000000
versions = 1000000
requests = 1000000
[[ladder]]
name = "smallest"
game = "tebes"
options = {size = "4"}
deals = 1
clock = {movetime = 20000, startup = 60000}
house = ["@random"]
`

// fleetConfig returns the configuration of the server. Its only ladder is the ladder of the default configuration
// with the given name. If there is none, fleetConfig returns an error. If ladderName is "", the ladder is
// smallestLadder.
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
		all[i].House, all[i].Clock = c.Ladders[0].House, c.Ladders[0].Clock
		c.Ladders = all[i : i+1]
	}
	c.Sandbox = sandbox.LevelNone
	return c, nil
}

// prepare creates the credentials of the workers, and a data directory of which every measurement uses a copy. The
// database has the ladder and the given number of versions, each of another bot.
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
	return d.addWorkers(dir, workers)
}

// botScript is the content of the only file in every version. It is never run.
const botScript = "exit 1\n"

// fillFleet creates a database in dir with the ladders of c. It adds as many bots as versions says, each with one
// version that plays on these ladders.
func fillFleet(ctx context.Context, dir datadir.Dir, c *config.Config, versions int) (err error) {
	s, err := store.Open(string(dir), store.Options{Server: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Ladders.Sync(ctx, c.Ladders); err != nil {
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
	_, err = addBots(ctx, s, versions, 10, 1, func(int, int) store.BuildInfo {
		return store.BuildInfo{Hash: hash, Language: "sh", Command: []string{"sh", "bot.sh"}}
	})
	return err
}

func (d fleetDirs) addWorkers(dir datadir.Dir, n int) error {
	keys, err := cluster.OpenKeys(dir.Fleet())
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
