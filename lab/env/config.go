// Package env is the rules engine as an environment for learners in any language: a server that
// plays many games at once and exchanges frames with its client over stdin and stdout or a Unix
// socket. A client sends the actions of all games in one frame and gets observations, legal
// actions and rewards as arrays in little-endian order. docs/training-env.md is the contract.
package env

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
)

// Version is the version of the frames, the first thing that a client names.
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

var (
	choices  = []string{arrayLegal, arrayMask, observation}
	defaults = []string{arrayLegal, observation}
)

// Rewards is what a reward is.
type Rewards string

const (
	// Points rewards a seat with what its points have changed by.
	Points Rewards = "points"
	// Outcome rewards a seat at the end of a game: 1 for a win, 0 for a draw, -1 for a loss.
	Outcome Rewards = "outcome"
)

// Config is what a client asks for.
type Config struct {
	Variant  *rules.Variant
	Games    int
	Arrays   []string // of choices, in their order
	Rewards  Rewards
	Auto     bool          // a game that has ended begins its next deal
	MoveTime time.Duration // what house bots are told that they have for a move
	Bots     []string      // by seat, the spec of a house bot; "" for the client
}

// ParseConfig reads the text of a make frame: "version=1 game=brisca games=64 ...". What is no
// key of its own is an option of the game. An error has the key, the value and what to try.
func ParseConfig(text string) (Config, error) {
	c := Config{Games: 1, Arrays: defaults, Rewards: Points, Auto: true, MoveTime: 100 * time.Millisecond}
	if !protocol.Pairs(text).Valid() || strings.ContainsAny(text, "\r\n\t") {
		return c, fmt.Errorf("env: %s cannot be read: write key=value with one space between, as in version=%d game=brisca games=64", protocol.Quote([]byte(text)), Version)
	}
	given := map[string]string{}
	for key, value := range protocol.Pairs(text).All() {
		if _, twice := given[string(key)]; twice {
			return c, fmt.Errorf("env: key %q is there twice: choose one", key)
		}
		given[string(key)] = string(value)
	}
	if err := c.read(given); err != nil {
		return c, fmt.Errorf("env: %w", err)
	}
	return c, nil
}

// read takes the keys of the environment; the rest are options.
func (c *Config) read(given map[string]string) error {
	take := func(key string) (string, bool) {
		value, ok := given[key]
		delete(given, key)
		return value, ok
	}
	if v, _ := take("version"); v != strconv.Itoa(Version) {
		return fmt.Errorf("version %q is unknown: this program has version=%d", v, Version)
	}
	name, _ := take("game")
	game, err := games.Find(name)
	if err != nil {
		return err
	}
	if err := c.readNumbers(take); err != nil {
		return err
	}
	if err := c.readWords(take); err != nil {
		return err
	}
	seats := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if strings.HasPrefix(key, "seat") {
			seats[key], _ = take(key)
		}
	}
	if c.Variant, err = game.Resolve(given); err != nil {
		return err
	}
	return c.readSeats(seats)
}

// readNumbers takes games and movetime.
func (c *Config) readNumbers(take func(string) (string, bool)) error {
	number := func(key string, most int) (int, bool, error) {
		text, ok := take(key)
		if !ok {
			return 0, false, nil
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return 0, true, fmt.Errorf("%s cannot be %q: try 1 to %d", key, text, most)
		}
		return n, true, nil
	}
	n, ok, err := number("games", MaxGames)
	if err != nil {
		return err
	}
	if ok {
		c.Games = n
	}
	ms, ok, err := number("movetime", int(MaxMoveTime.Milliseconds()))
	if ok {
		c.MoveTime = time.Duration(ms) * time.Millisecond
	}
	return err
}

// readWords takes arrays, rewards and auto.
func (c *Config) readWords(take func(string) (string, bool)) error {
	if text, ok := take("arrays"); ok {
		words := strings.Split(text, ",")
		for _, w := range words {
			if !slices.Contains(choices, w) {
				return fmt.Errorf("arrays cannot have %q: try %s", w, strings.Join(choices, ", "))
			}
		}
		c.Arrays = nil
		for _, w := range choices {
			if slices.Contains(words, w) {
				c.Arrays = append(c.Arrays, w)
			}
		}
	}
	if text, ok := take("rewards"); ok {
		if c.Rewards = Rewards(text); c.Rewards != Points && c.Rewards != Outcome {
			return fmt.Errorf("rewards cannot be %q: try %s or %s", text, Points, Outcome)
		}
	}
	if text, ok := take("auto"); ok {
		if c.Auto = text == "yes"; !c.Auto && text != "no" {
			return fmt.Errorf("auto cannot be %q: try yes or no", text)
		}
	}
	return nil
}

// readSeats takes seat0=@greedy and the like: at least one seat is left to the client.
func (c *Config) readSeats(seats map[string]string) error {
	players := c.Variant.Players
	c.Bots = make([]string, players)
	for key, spec := range seats {
		seat, err := strconv.Atoi(strings.TrimPrefix(key, "seat"))
		if err != nil || seat < 0 || seat >= players || key != fmt.Sprintf("seat%d", seat) {
			return fmt.Errorf("key %q is no seat of this game: try seat0 to seat%d", key, players-1)
		}
		c.Bots[seat] = strings.TrimPrefix(spec, "@")
		if _, err := house.Find(c.Bots[seat]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	bots, thinkers := c.countBots()
	switch {
	case bots == players*c.Games:
		return fmt.Errorf("every seat has a house bot: leave out seat%d for the client, or use timba match", players-1)
	case bots > MaxBots:
		return fmt.Errorf("games cannot be %q with so many house bots: %d bots play at once at most, and this needs %d", strconv.Itoa(c.Games), MaxBots, bots)
	case thinkers > MaxThinkers:
		return fmt.Errorf("games cannot be %q with house bots that search: %d of them play at once at most, and this needs %d", strconv.Itoa(c.Games), MaxThinkers, thinkers)
	}
	return nil
}

// countBots returns how many house bots play at once, and how many of them search.
func (c *Config) countBots() (bots, thinkers int) {
	for _, spec := range c.Bots {
		if spec == "" {
			continue
		}
		bots += c.Games
		name, _, _ := strings.Cut(spec, ":")
		for _, b := range house.List() {
			if b.Name == name && !b.Simple {
				thinkers += c.Games
			}
		}
	}
	return bots, thinkers
}
