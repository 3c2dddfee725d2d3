// Package env is the rules engine as an environment for learners in any language: a server that
// plays many games at once and exchanges frames with its client over stdin and stdout or a Unix
// socket. A client sends the actions of all games in one frame and gets observations, legal
// actions and rewards as arrays in little-endian order. lab/env.md is the contract.
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

// Version is the version of the frames, which a client names.
const Version = 1

// The limits of one connection.
const (
	// MaxGames is the most games at once.
	MaxGames = 65_536
	// MaxMemory is the most bytes that positions and arrays take.
	MaxMemory = 256 << 20
	// MaxBots is the most house bots that answer at once, over all games.
	MaxBots = 16_384
	// MaxThinkers is the most house bots that search, over all games: each has memory of its own.
	MaxThinkers = 64
	// MaxMoveTime is the longest time for a move of a house bot.
	MaxMoveTime = time.Hour
)

// What a client may leave out of a frame.
const (
	arrayLegal  = "legal"
	arrayMask   = "mask"
	observation = "observation" // planes and numbers
)

var optionalArrays = []string{arrayLegal, arrayMask, observation}

// Rewards is what a reward is.
type Rewards string

const (
	// RewardPoints rewards a seat with what its points have changed by.
	RewardPoints Rewards = "points"
	// RewardOutcome rewards a seat at the end of a game: 1 for a win, 0 for a draw, -1 for a loss.
	RewardOutcome Rewards = "outcome"
)

// Config is what a client asks for.
type Config struct {
	Variant   *rules.Variant
	Games     int
	Arrays    []string // of choices
	Rewards   Rewards
	AutoReset bool          // a game that has ended begins its next deal
	MoveTime  time.Duration // what house bots are told that they have for a move
	Bots      []string      // by seat, the spec of a house bot; "" for the client
}

// configKey is a key of the document that ParseConfig reads.
type configKey struct {
	name  string
	value any         // a pointer to what it sets
	valid func() bool // whether it may be so; nil for every value of its type
	try   string
}

// ParseConfig reads the JSON document of a make frame. An error has the key, the value and what to
// try.
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

// readKeys sets what the keys of a JSON object say.
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

// resolve finds the game with its options, and the house bots: at least one seat is left to the
// client.
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

// text returns the text of a JSON string, and any other value as it is written.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil || string(value) == "null" {
		return string(value)
	}
	return s
}
