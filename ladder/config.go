package ladder

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// ConfigFile is the name of the configuration in the data folder.
const ConfigFile = "timba.toml"

// Anchor is the house bot that all ratings are relative to; elo.AnchorElo is its rating.
const Anchor = "@random"

//go:embed ladders.toml
var defaultTOML string

// DefaultTOML is the default configuration as a file with comments.
func DefaultTOML() []byte { return []byte(defaultTOML) }

// Config is what an operator decides.
type Config struct {
	Registration string // "invite" or "open"
	Workers      int    // matches at the same time, at least 1
	// Pause is the time between two matches of a ladder on which every version has
	// had Settled of them: they tell little by then, and all of it is kept for ever.
	Pause   time.Duration
	Sandbox sandbox.Level
	Limits  Limits
	Ladders []LadderConfig // in the order in which they are shown
}

// Settled is how many matches of a version tell nearly all that there is to know.
const Settled = 100

// Open tells whether anybody may open an account.
func (c *Config) Open() bool { return c.Registration == "open" }

// Limits are what one bot, upload or person may use.
type Limits struct {
	Memory    int64 // bytes of a bot
	Processes int   // of a bot, threads counted
	Upload    int64 // bytes of an upload as it comes
	Unpacked  int64 // bytes of its files
	Files     int   // of an upload, folders counted
	Bots      int   // of a person
	Versions  int   // a day and person
	Unrated   int   // unrated matches of a person that are not over
	Requests  int   // a minute with one token
	Anonymous int   // a minute without a token from one address
}

// Hold is the limit of a bot's sandbox.
func (l Limits) Hold() sandbox.Limit {
	limit := sandbox.DefaultLimit
	limit.Memory, limit.Processes = l.Memory, l.Processes
	return limit
}

// LadderConfig is one ladder.
type LadderConfig struct {
	Name    string
	Title   string
	Game    string
	Options map[string]string // every one
	Clock   Clock
	Deals   int      // of a match
	Bots    int      // slots of a match
	House   []string // house bots on it, such as "@greedy"; the anchor is one
}

// Variant is the ladder's game with its options settled.
func (l LadderConfig) Variant() (rules.Variant, error) {
	g, err := games.Find(l.Game)
	if err != nil {
		return nil, err
	}
	return rules.Settle(g, l.Options)
}

// Sides is the side of each slot: slots of the same side are partners in every
// rotation, all others are opponents.
func (l LadderConfig) Sides() ([]int, error) {
	v, err := l.Variant()
	if err != nil {
		return nil, err
	}
	return SlotSides(v, l.Bots)
}

// SlotSides is the side that each of a match's slots plays for in rotation 0.
// Slot i sits at the seats s with (s+rotation) mod slots = i, as referee.Match
// has it. A match whose partners would change with the rotation is refused.
func SlotSides(v rules.Variant, slots int) ([]int, error) {
	players := v.Players()
	if slots < 2 || slots > players {
		return nil, fmt.Errorf("bots cannot be %d in a game of %d seats: try %d", slots, players, players)
	}
	var sides []int
	for rotation := range slots {
		now := slices.Repeat([]int{-1}, slots)
		for seat := range players {
			slot := (seat + rotation) % slots
			if side := v.Side(seat); now[slot] >= 0 && now[slot] != side {
				return nil, fmt.Errorf("bots cannot be %d in a game of %d seats, where a bot would play against itself: try %d", slots, players, players)
			}
			now[slot] = v.Side(seat)
		}
		if rotation == 0 {
			sides = now
		}
		for i := range slots {
			for j := range i {
				if (now[i] == now[j]) != (sides[i] == sides[j]) {
					return nil, fmt.Errorf("bots cannot be %d in a game of %d seats, where partners would change: try %d", slots, players, players)
				}
			}
		}
	}
	return sides, nil
}

// The file as it is written.
type (
	configFile struct {
		Registration string       `toml:"registration"`
		Workers      int          `toml:"workers"`
		Pause        int64        `toml:"pause"` // seconds
		Sandbox      string       `toml:"sandbox"`
		Limits       limitsFile   `toml:"limits"`
		Ladders      []ladderFile `toml:"ladder"`
	}
	limitsFile struct {
		Memory    int64 `toml:"memory"` // MiB, as Upload and Unpacked
		Processes int64 `toml:"processes"`
		Upload    int64 `toml:"upload"`
		Unpacked  int64 `toml:"unpacked"`
		Files     int64 `toml:"files"`
		Bots      int64 `toml:"bots"`
		Versions  int64 `toml:"versions"`
		Unrated   int64 `toml:"unrated"`
		Requests  int64 `toml:"requests"`
		Anonymous int64 `toml:"anonymous"`
	}
	ladderFile struct {
		Name    string            `toml:"name"`
		Title   string            `toml:"title"`
		Game    string            `toml:"game"`
		Options map[string]string `toml:"options"`
		Clock   clockFile         `toml:"clock"`
		Deals   int               `toml:"deals"`
		Bots    *int              `toml:"bots"`
		House   []string          `toml:"house"`
	}
	clockFile struct {
		Movetime int64  `toml:"movetime"` // milliseconds, as the others
		Bank     int64  `toml:"bank"`
		Inc      int64  `toml:"inc"`
		Margin   *int64 `toml:"margin"`
		Startup  *int64 `toml:"startup"`
	}
)

// DefaultConfig is what holds without a file.
func DefaultConfig() *Config {
	c, err := ParseConfig(ConfigFile, nil)
	if err != nil {
		panic("ladder: the default configuration: " + err.Error()) // a test reads it
	}
	return c
}

// ReadConfig reads a file; one that does not exist is an empty one.
func ReadConfig(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return ParseConfig(path, data)
}

// ParseConfig reads a configuration on top of the default one. The name is for
// errors, which have the key, its value and what to try.
func ParseConfig(name string, data []byte) (*Config, error) {
	var f configFile
	if _, err := toml.Decode(defaultTOML, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	own := f
	own.Ladders = nil
	meta, err := toml.Decode(string(data), &own)
	if err != nil {
		return nil, Errorf(Invalid, "", "%s: %w", name, err)
	}
	if !meta.IsDefined("ladder") {
		own.Ladders = f.Ladders
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, Errorf(Invalid, "try "+strings.Join(keysBeside(unknown[0]), ", "), "%s: there is no key %q", name, unknown[0])
	}
	c, err := own.settle()
	if err != nil {
		return nil, Errorf(Invalid, "", "%s: %w", name, err)
	}
	return c, nil
}

// keysBeside lists the keys that stand where an unknown one was.
func keysBeside(unknown toml.Key) []string {
	switch {
	case len(unknown) == 1:
		return []string{"registration", "workers", "pause", "sandbox", "limits", "ladder"}
	case unknown[0] == "limits":
		var keys []string
		for _, l := range new(limitsFile).list(new(Limits)) {
			keys = append(keys, l.key)
		}
		return keys
	case len(unknown) > 2 && unknown[1] == "clock":
		return []string{"movetime", "bank", "inc", "margin", "startup"}
	}
	return []string{"name", "title", "game", "options", "clock", "deals", "bots", "house"}
}

const (
	maxWorkers = 1024
	maxPause   = 24 * 60 * 60
)

func (f *configFile) settle() (*Config, error) {
	c := &Config{Registration: f.Registration, Workers: f.Workers}
	if c.Registration != "invite" && c.Registration != "open" {
		return nil, fmt.Errorf("registration cannot be %q: try invite or open", f.Registration)
	}
	if f.Workers < 0 || f.Workers > maxWorkers {
		return nil, fmt.Errorf("workers cannot be %d: try 0, for one a processor, or up to %d", f.Workers, maxWorkers)
	}
	if c.Workers == 0 {
		c.Workers = runtime.NumCPU()
	}
	if f.Pause < 0 || f.Pause > maxPause {
		return nil, fmt.Errorf("pause cannot be %d: try 0 to %d seconds", f.Pause, maxPause)
	}
	c.Pause = time.Duration(f.Pause) * time.Second
	switch f.Sandbox {
	case "reduced":
		c.Sandbox = sandbox.Reduced
	case "full":
		c.Sandbox = sandbox.Full
	default:
		return nil, fmt.Errorf("sandbox cannot be %q: try reduced or full; strangers' bots are not run with less", f.Sandbox)
	}
	var err error
	if c.Limits, err = f.Limits.settle(); err != nil {
		return nil, err
	}
	if len(f.Ladders) == 0 {
		return nil, errors.New("ladder cannot be an empty list: name at least one, or leave it out for the default ladders")
	}
	for i, l := range f.Ladders {
		settled, err := l.settle()
		if err != nil {
			return nil, fmt.Errorf("ladder %d, %q: %w", i+1, l.Name, err)
		}
		if slices.ContainsFunc(c.Ladders, func(o LadderConfig) bool { return o.Name == l.Name }) {
			return nil, fmt.Errorf("ladder %d: name cannot be %q again: give each its own", i+1, l.Name)
		}
		c.Ladders = append(c.Ladders, settled)
	}
	return c, nil
}

// limit is one line of [limits].
type limit struct {
	key      string
	value    int64
	min, max int64
	set      func(int64)
}

func (f *limitsFile) list(l *Limits) []limit {
	count := func(to *int) func(int64) { return func(n int64) { *to = int(n) } }
	mib := func(to *int64) func(int64) { return func(n int64) { *to = n << 20 } }
	return []limit{
		{"memory", f.Memory, 16, 1 << 20, mib(&l.Memory)},
		{"processes", f.Processes, 1, 100_000, count(&l.Processes)},
		{"upload", f.Upload, 1, 1 << 14, mib(&l.Upload)},
		{"unpacked", f.Unpacked, 1, 1 << 16, mib(&l.Unpacked)},
		{"files", f.Files, 1, 1_000_000, count(&l.Files)},
		{"bots", f.Bots, 1, 1_000_000, count(&l.Bots)},
		{"versions", f.Versions, 1, 1_000_000, count(&l.Versions)},
		{"unrated", f.Unrated, 0, 1_000_000, count(&l.Unrated)},
		{"requests", f.Requests, 1, 1_000_000, count(&l.Requests)},
		{"anonymous", f.Anonymous, 1, 1_000_000, count(&l.Anonymous)},
	}
}

func (f *limitsFile) settle() (Limits, error) {
	var l Limits
	for _, x := range f.list(&l) {
		if x.value < x.min || x.value > x.max {
			return l, fmt.Errorf("limits.%s cannot be %d: try %d to %d", x.key, x.value, x.min, x.max)
		}
		x.set(x.value)
	}
	if err := l.Hold().Check(); err != nil {
		return l, fmt.Errorf("limits: %w", err)
	}
	return l, nil
}

var ladderName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const (
	maxLadderName = 40
	maxTitle      = 80
	maxDeals      = 1000
)

func (f ladderFile) settle() (LadderConfig, error) {
	l := LadderConfig{Name: f.Name, Title: f.Title, Game: f.Game, Options: f.Options, Deals: f.Deals, House: f.House}
	if !ladderName.MatchString(f.Name) || len(f.Name) > maxLadderName {
		return l, fmt.Errorf("name cannot be %q: try lower-case letters, digits and single hyphens, at most %d in all", f.Name, maxLadderName)
	}
	if l.Title == "" {
		l.Title = l.Name
	}
	if len(l.Title) > maxTitle || strings.ContainsFunc(l.Title, func(r rune) bool { return r < ' ' }) {
		return l, fmt.Errorf("title cannot be %q: try one line of at most %d bytes", l.Title, maxTitle)
	}
	v, err := l.Variant()
	if err != nil {
		return l, err
	}
	l.Options = map[string]string{}
	for _, o := range v.Settings() {
		l.Options[o.Name] = o.Value
	}
	if l.Clock, err = f.Clock.settle(); err != nil {
		return l, err
	}
	if l.Deals < 1 || l.Deals > maxDeals {
		return l, fmt.Errorf("deals cannot be %d: try 1 to %d", l.Deals, maxDeals)
	}
	l.Bots = v.Players()
	if f.Bots != nil {
		l.Bots = *f.Bots
	}
	if _, err := l.Sides(); err != nil {
		return l, err
	}
	return l, l.settleHouse()
}

func (f clockFile) settle() (Clock, error) {
	ms := func(n int64) time.Duration {
		// What does not fit is refused below, by a value that is surely too large.
		return time.Duration(max(-1, min(n, 1<<40))) * time.Millisecond
	}
	c := Clock{referee.Clock{
		Move: ms(f.Movetime), Bank: ms(f.Bank), Inc: ms(f.Inc),
		Margin: referee.DefaultClock.Margin, Startup: referee.DefaultClock.Startup,
	}}
	if f.Margin != nil {
		c.Margin = ms(*f.Margin)
	}
	if f.Startup != nil {
		c.Startup = ms(*f.Startup)
	}
	return c, c.Check()
}

// settleHouse fills in or checks the house bots.
func (l *LadderConfig) settleHouse() error {
	if l.House == nil {
		for _, b := range house.List() {
			l.House = append(l.House, "@"+b.Name)
		}
		return nil
	}
	for i, name := range l.House {
		spec, ok := strings.CutPrefix(name, "@")
		if !ok {
			return fmt.Errorf("house cannot have %q: house bots begin with @, such as %s", name, Anchor)
		}
		if _, err := house.Find(spec); err != nil {
			return err
		}
		if slices.Contains(l.House[:i], name) {
			return fmt.Errorf("house cannot have %q twice: name each once", name)
		}
	}
	if !slices.Contains(l.House, Anchor) {
		return fmt.Errorf("house cannot be %q: add %s, the anchor of the ratings", l.House, Anchor)
	}
	return nil
}
