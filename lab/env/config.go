// Package env offers the games of timba as an environment for reinforcement learning in any language. A
// server plays many games at once and exchanges frames with its client over stdin and stdout or a Unix
// socket. The client sends the actions of all games in one frame and receives observations, legal actions and
// rewards as little-endian arrays. lab/env.md specifies the protocol. Begin with Serve and Batch.
package env

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
)

// Version is the version of the frame format. A client sends it in the frame that creates games.
const Version = 1

// The limits of one connection.
const (
	// MaxGames is the maximal number of games at once.
	MaxGames = 65_536
	// MaxMemory is the maximal size of positions and arrays, in bytes.
	MaxMemory = 256 << 20
	// MaxBots is the maximal number of house bots (part of timba) in all games of a connection together.
	MaxBots = 16_384
	// MaxThinkers is the maximal number of bots of timba that search, over all games. Each of them has memory of
	// its own.
	MaxThinkers = 64
	// MaxMoveTime is the maximal time of a bot of timba for a move.
	MaxMoveTime = time.Hour
)

// The names of the arrays that a client may leave out of the frames.
const (
	arrayLegal  = "legal"       // the list of legal actions of each game
	arrayMask   = "mask"        // for each action 1 if it is legal, otherwise 0
	observation = "observation" // the arrays "planes" and "numbers"
)

var optionalArrays = []string{arrayLegal, arrayMask, observation}

// Rewards selects how a reward is computed.
type Rewards string

const (
	// RewardPoints rewards a seat with the change of its points.
	RewardPoints Rewards = "points"
	// RewardOutcome rewards a seat at the end of a game: 1 for a win, 0 for a draw, -1 for a loss.
	RewardOutcome Rewards = "outcome"
)

// Config describes the games that a client wants to play.
type Config struct {
	Variant   *rules.Variant
	Games     int
	Arrays    []string // from optionalArrays
	Rewards   Rewards
	AutoReset bool          // a game that has ended starts its next deal
	MoveTime  time.Duration // time for a move that is announced to house bots
	Bots      []string      // by seat, the spec of a house bot without @; "" for the client
}

// configKey says how the value of one key in a client's JSON document is stored and checked.
type configKey struct {
	name  string
	value any         // pointer to the variable to set
	valid func() bool // checks the value; if nil, every value of the type is valid
	try   string      // valid values, for the error message
}

// ParseConfig reads the JSON document with which a client describes the games that it wants. Missing keys
// have default values. An error names the key, its value and the valid values.
func ParseConfig(document []byte) (Config, error) {
	c := Config{Games: 1, Rewards: RewardPoints, AutoReset: true}
	var (
		version      int
		game         string
		options      map[string]json.RawMessage
		seats        map[string]string
		milliseconds = 100
	)
	between := func(n *int, most int) func() bool {
		return func() bool { return *n >= 1 && *n <= most }
	}
	rewarded := func() bool { return c.Rewards == RewardPoints || c.Rewards == RewardOutcome }
	chosen := func() bool {
		return !slices.ContainsFunc(c.Arrays, func(a string) bool { return !slices.Contains(optionalArrays, a) })
	}
	const most = int(MaxMoveTime / time.Millisecond)
	keys := []configKey{
		{"version", &version, func() bool { return version == Version }, strconv.Itoa(Version)},
		{"game", &game, nil, `"brisca"`},
		{"options", &options, nil, `{"players": 2}`},
		{"games", &c.Games, between(&c.Games, MaxGames), fmt.Sprintf("1 to %d", MaxGames)},
		{"seats", &seats, nil, `{"1": "@greedy"}`},
		{"rewards", &c.Rewards, rewarded, `"points" or "outcome"`},
		{"auto", &c.AutoReset, nil, "true or false"},
		{"arrays", &c.Arrays, chosen, `some of ["legal", "mask", "observation"]`},
		{"movetime", &milliseconds, between(&milliseconds, most), fmt.Sprintf("1 to %d", most)},
	}
	err := readKeys(document, keys)
	if err == nil {
		c.MoveTime = time.Duration(milliseconds) * time.Millisecond
		if c.Arrays == nil {
			c.Arrays = []string{arrayLegal, observation}
		}
		err = c.resolve(game, options, seats)
	}
	if err != nil {
		return c, fmt.Errorf("env: %w", err)
	}
	return c, nil
}

// readKeys stores the values in document, a JSON object, in the variables of keys. It then checks all variables,
// even those of keys that the document does not have. An unknown key in the document is an error.
func readKeys(document []byte, keys []configKey) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(document, &given); err != nil || given == nil {
		const example = `{"version": 1, "game": "brisca"}`
		return fmt.Errorf("%s is no JSON object: try %s", protocol.Quote(document), example)
	}
	var names []string
	for _, k := range keys {
		value, there := given[k.name]
		wrong := there && (string(value) == "null" || json.Unmarshal(value, k.value) != nil)
		if wrong || k.valid != nil && !k.valid() {
			seen := cmp.Or(protocol.Clip(value), "missing")
			return fmt.Errorf("%s cannot be %s: try %s", k.name, seen, k.try)
		}
		delete(given, k.name)
		names = append(names, k.name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		seen, all := protocol.Clip(given[name]), strings.Join(names, ", ")
		return fmt.Errorf("unknown key %q with the value %s: try %s", name, seen, all)
	}
	return nil
}

// resolve sets c.Variant to the game with the given name and options. It sets c.Bots to the house bots (part of
// timba) in seats, whose keys are seat numbers. It returns an error if no seat remains for the client or if there
// are too many bots.
func (c *Config) resolve(name string, options map[string]json.RawMessage, seats map[string]string) error {
	game, err := games.Find(name)
	if err != nil {
		return err
	}
	values := map[string]string{}
	for option, value := range options {
		values[option] = text(value)
	}
	if c.Variant, err = game.Resolve(values); err != nil {
		return err
	}
	players, bots, thinkers := c.Variant.Players, len(seats)*c.Games, 0
	c.Bots = make([]string, players)
	for _, key := range slices.Sorted(maps.Keys(seats)) {
		seat, err := strconv.Atoi(key)
		if err != nil || seat < 0 || seat >= players || key != strconv.Itoa(seat) {
			return fmt.Errorf("seats: %q with the value %q is no seat of this game: try 0 to %d", key, seats[key], players-1)
		}
		c.Bots[seat] = strings.TrimPrefix(seats[key], "@")
		if _, err := house.NewPlayer(c.Bots[seat]); err != nil {
			return fmt.Errorf("seats: %s: %w", key, err)
		}
		if name, _, _ := strings.Cut(c.Bots[seat], ":"); !slices.Contains(house.SimpleNames(), name) {
			thinkers += c.Games
		}
	}
	switch {
	case len(seats) == players:
		return fmt.Errorf("seats: every seat has a house bot: leave out %d for the client, or use timba match", players-1)
	case bots > MaxBots:
		return fmt.Errorf("games cannot be %d with so many house bots: %d bots play at once at most, and this needs %d", c.Games, MaxBots, bots)
	case thinkers > MaxThinkers:
		return fmt.Errorf("games cannot be %d with house bots that search: %d of them play at once at most, and this needs %d", c.Games, MaxThinkers, thinkers)
	}
	return nil
}

// text returns the content of value if it is a JSON string, otherwise value itself.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil || string(value) == "null" {
		return string(value)
	}
	return s
}
