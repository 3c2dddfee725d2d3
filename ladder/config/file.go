package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// The shape of the TOML file.
type (
	configFile struct {
		Registration string       `toml:"registration"`
		Workers      int          `toml:"workers"`
		Pause        int64        `toml:"pause"` // seconds, as Idle
		Idle         int64        `toml:"idle"`
		Memory       int64        `toml:"memory"` // MiB
		Sandbox      string       `toml:"sandbox"`
		Site         siteFile     `toml:"site"`
		Limits       limitsFile   `toml:"limits"`
		Play         playFile     `toml:"play"`
		Remote       remoteFile   `toml:"remote"`
		Live         liveFile     `toml:"live"`
		Storage      storageFile  `toml:"storage"`
		Ladders      []ladderFile `toml:"ladder"`
	}
	siteFile struct {
		Embed bool   `toml:"embed"`
		URL   string `toml:"url"`
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
		Time      int64 `toml:"time"`  // minutes
		Share     int64 `toml:"share"` // percent
		Requests  int64 `toml:"requests"`
		Anonymous int64 `toml:"anonymous"`
		Rate      int64 `toml:"rate"`   // KiB a second
		Window    int64 `toml:"window"` // seconds
	}
	playFile struct {
		Games   int64 `toml:"games"`
		Memory  int64 `toml:"memory"` // MiB
		Person  int64 `toml:"person"`
		Address int64 `toml:"address"`
		Day     int64 `toml:"day"`
		Guests  bool  `toml:"guests"`
		Think   int64 `toml:"think"` // milliseconds
		Move    int64 `toml:"move"`  // seconds, as Back
		Back    int64 `toml:"back"`
		Frames  int64 `toml:"frames"`
		Silence int64 `toml:"silence"` // seconds
	}
	remoteFile struct {
		Allowance int64 `toml:"allowance"` // milliseconds
		Comeback  int64 `toml:"comeback"`  // seconds
		Person    int64 `toml:"person"`
		Address   int64 `toml:"address"`
		Total     int64 `toml:"total"`
		Frames    int64 `toml:"frames"`
		Silence   int64 `toml:"silence"` // seconds
	}
	liveFile struct {
		Person   int64 `toml:"person"`
		Address  int64 `toml:"address"`
		Total    int64 `toml:"total"`
		Topics   int64 `toml:"topics"`
		Pages    int64 `toml:"pages"`
		Message  int64 `toml:"message"` // bytes
		Messages int64 `toml:"messages"`
		Frames   int64 `toml:"frames"`
		Kept     int64 `toml:"kept"`
		Renders  int64 `toml:"renders"`
		Queue    int64 `toml:"queue"`
		Waiting  int64 `toml:"waiting"` // KiB
		All      int64 `toml:"all"`     // MiB
		Write    int64 `toml:"write"`   // seconds, as Silence
		Silence  int64 `toml:"silence"`
	}
	storageFile struct {
		Days   int64 `toml:"days"`
		Size   int64 `toml:"size"`   // GiB, as Room
		Builds int64 `toml:"builds"` // days
		Room   int64 `toml:"room"`
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
		referee.ClockMS
		Margin  *int64 `toml:"margin"` // nil, as for Startup: that of referee.DefaultClock
		Startup *int64 `toml:"startup"`
	}
)

// siblingKeys returns the keys that exist where an unknown one was.
func siblingKeys(unknown toml.Key) []string {
	switch {
	case len(unknown) == 1:
		return []string{"registration", "workers", "memory", "pause", "idle", "sandbox", "site", "limits", "play", "remote", "live", "storage", "ladder"}
	case unknown[0] == "site":
		return []string{"embed", "url"}
	case unknown[0] == "limits":
		return limitKeys(new(limitsFile).list(new(ladder.Limits)))
	case unknown[0] == "play":
		return append(limitKeys(new(playFile).list(new(ladder.PlayLimits))), "guests")
	case unknown[0] == "remote":
		return limitKeys(new(remoteFile).list(new(ladder.RemoteLimits)))
	case unknown[0] == "live":
		return limitKeys(new(liveFile).list(new(ladder.LiveLimits)))
	case unknown[0] == "storage":
		return limitKeys(new(storageFile).list(new(ladder.Storage)))
	case len(unknown) > 2 && unknown[1] == "clock":
		return []string{"movetime", "bank", "inc", "margin", "startup"}
	}
	return []string{"name", "title", "game", "options", "clock", "deals", "bots", "house"}
}

func limitKeys(limits []limit) (keys []string) {
	for _, l := range limits {
		keys = append(keys, l.key)
	}
	return keys
}

// MinMemory is the fewest MiB that a bot can be limited to.
const MinMemory = 16

const (
	maxWorkers = 1024
	maxMemory  = 1 << 30      // MiB
	maxPause   = 24 * 60 * 60 // seconds
	maxDays    = 36_500
)

// publicURL returns the address of a server as people write it, without a slash at its end; "" for "".
func publicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.String() != u.Scheme+"://"+u.Host {
		return "", fmt.Errorf("site.url cannot be %q: try the scheme and the host alone, such as https://bots.example.org", text)
	}
	return u.String(), nil
}

func (f *configFile) resolve() (*Config, error) {
	c := &Config{Registration: f.Registration, Workers: f.Workers, Embed: f.Site.Embed}
	var err error
	if c.URL, err = publicURL(f.Site.URL); err != nil {
		return nil, err
	}
	if c.Registration != "invite" && c.Registration != "open" {
		return nil, fmt.Errorf("registration cannot be %q: try invite or open", f.Registration)
	}
	if f.Workers < 0 || f.Workers > maxWorkers {
		return nil, fmt.Errorf("workers cannot be %d: try 0 (one per processor) or 1 to %d", f.Workers, maxWorkers)
	}
	if c.Workers == 0 {
		c.Workers = runtime.NumCPU()
	}
	if f.Memory < 0 || f.Memory > maxMemory {
		return nil, fmt.Errorf("memory cannot be %d: try 0, for what the machine has, or up to %d MiB", f.Memory, maxMemory)
	}
	c.Memory = f.Memory << 20
	if f.Pause < 0 || f.Pause > maxPause {
		return nil, fmt.Errorf("pause cannot be %d: try 0 to %d seconds", f.Pause, maxPause)
	}
	c.Pause = time.Duration(f.Pause) * time.Second
	if f.Idle < 0 || f.Idle > maxPause {
		return nil, fmt.Errorf("idle cannot be %d: try 0 to %d seconds", f.Idle, maxPause)
	}
	c.Idle = time.Duration(f.Idle) * time.Second
	switch f.Sandbox {
	case "reduced":
		c.Sandbox = sandbox.Reduced
	case "full":
		c.Sandbox = sandbox.Full
	default:
		return nil, fmt.Errorf("sandbox cannot be %q: try reduced or full; strangers' bots are not run with less", f.Sandbox)
	}
	if c.Fit = f.Limits.Memory == 0; c.Fit {
		f.Limits.Memory = sandbox.DefaultLimit.Memory >> 20
	}
	if c.Limits, err = f.Limits.resolve(); err != nil {
		return nil, err
	}
	if c.Play, err = f.Play.resolve(); err != nil {
		return nil, err
	}
	if err := setAll("remote", f.Remote.list(&c.Remote)); err != nil {
		return nil, err
	}
	if err := setAll("live", f.Live.list(&c.Live)); err != nil {
		return nil, err
	}
	if err := setAll("storage", f.Storage.list(&c.Storage)); err != nil {
		return nil, err
	}
	if len(f.Ladders) == 0 {
		return nil, errors.New("ladder cannot be an empty list: name at least one, or leave it out for the default ladders")
	}
	for i, l := range f.Ladders {
		resolved, err := l.resolve()
		if err != nil {
			return nil, fmt.Errorf("ladder %d, %q: %w", i+1, l.Name, err)
		}
		if slices.ContainsFunc(c.Ladders, func(o ladder.Ladder) bool { return o.Name == l.Name }) {
			return nil, fmt.Errorf("ladder %d: name %q is used twice: give each ladder its own", i+1, l.Name)
		}
		c.Ladders = append(c.Ladders, resolved)
	}
	return c, nil
}

// limit is one key of a table of limits.
type limit struct {
	key      string
	value    int64
	min, max int64
	set      func(int64)
}

func (f *limitsFile) list(l *ladder.Limits) []limit {
	return []limit{
		{"memory", f.Memory, MinMemory, 1 << 20, size(&l.Memory, mib)},
		{"processes", f.Processes, 1, 100_000, count(&l.Processes)},
		{"upload", f.Upload, 1, 1 << 14, size(&l.Upload, mib)},
		{"unpacked", f.Unpacked, 1, 1 << 16, size(&l.Unpacked, mib)},
		{"files", f.Files, 1, 1_000_000, count(&l.Files)},
		{"bots", f.Bots, 1, 1_000_000, count(&l.Bots)},
		{"versions", f.Versions, 1, 1_000_000, count(&l.Versions)},
		{"unrated", f.Unrated, 0, 1_000_000, count(&l.Unrated)},
		{"time", f.Time, 1, 7 * 24 * 60, span(&l.Time, time.Minute)},
		{"share", f.Share, 1, 100, count(&l.Share)},
		{"requests", f.Requests, 1, 1_000_000, count(&l.Requests)},
		{"anonymous", f.Anonymous, 1, 1_000_000, count(&l.Anonymous)},
		{"rate", f.Rate, 1, 1 << 20, size(&l.Rate, kib)},
		{"window", f.Window, 1, 600, span(&l.Window, time.Second)},
	}
}

func (f *limitsFile) resolve() (ladder.Limits, error) {
	var l ladder.Limits
	if err := setAll("limits", f.list(&l)); err != nil {
		return l, err
	}
	if _, err := botLimit(l).Check(); err != nil {
		return l, fmt.Errorf("limits: %w", err)
	}
	return l, nil
}

// maxSilence is the longest time in seconds that a connection may be without a sign of life.
const maxSilence = 60 * 60

const (
	kib = 10 // powers of 2
	mib = 20
	gib = 30
)

func count(to *int) func(int64) { return func(n int64) { *to = int(n) } }

func size(to *int64, unit int) func(int64) { return func(n int64) { *to = n << unit } }

func span(to *time.Duration, unit time.Duration) func(int64) {
	return func(n int64) { *to = time.Duration(n) * unit }
}

// setAll sets the values of a table.
func setAll(table string, limits []limit) error {
	for _, x := range limits {
		if x.value < x.min || x.value > x.max {
			return fmt.Errorf("%s.%s cannot be %d: try %d to %d", table, x.key, x.value, x.min, x.max)
		}
		x.set(x.value)
	}
	return nil
}

func (f *playFile) list(l *ladder.PlayLimits) []limit {
	return []limit{
		{"games", f.Games, 0, 10_000, count(&l.Games)},
		{"memory", f.Memory, 0, maxMemory, size(&l.Memory, mib)},
		{"person", f.Person, 1, 1000, count(&l.Person)},
		{"address", f.Address, 1, 10_000, count(&l.Address)},
		{"day", f.Day, 1, 1_000_000, count(&l.Day)},
		{"think", f.Think, 10, 60_000, span(&l.Think, time.Millisecond)},
		{"move", f.Move, 1, 24 * 60 * 60, span(&l.Move, time.Second)},
		{"back", f.Back, 1, 24 * 60 * 60, span(&l.Back, time.Second)},
		{"frames", f.Frames, 1, 100_000, count(&l.Frames)},
		{"silence", f.Silence, 1, maxSilence, span(&l.Silence, time.Second)},
	}
}

func (f *playFile) resolve() (ladder.PlayLimits, error) {
	l := ladder.PlayLimits{Guests: f.Guests}
	return l, setAll("play", f.list(&l))
}

func (f *remoteFile) list(l *ladder.RemoteLimits) []limit {
	return []limit{
		{"allowance", f.Allowance, 10, 10_000, span(&l.Allowance, time.Millisecond)},
		{"comeback", f.Comeback, 1, 600, span(&l.Comeback, time.Second)},
		{"person", f.Person, 0, 1_000_000, count(&l.Person)},
		{"address", f.Address, 0, 1_000_000, count(&l.Address)},
		{"total", f.Total, 0, 1_000_000, count(&l.Total)},
		{"frames", f.Frames, 10, 1_000_000, count(&l.Frames)},
		{"silence", f.Silence, 1, maxSilence, span(&l.Silence, time.Second)},
	}
}

func (f *storageFile) list(s *ladder.Storage) []limit {
	return []limit{
		{"days", f.Days, 0, maxDays, span(&s.Keep, 24*time.Hour)},
		{"size", f.Size, 0, 1 << 20, size(&s.Size, gib)},
		{"builds", f.Builds, 0, maxDays, span(&s.Builds, 24*time.Hour)},
		{"room", f.Room, 0, 1 << 20, size(&s.Room, gib)},
	}
}

func (f *liveFile) list(l *ladder.LiveLimits) []limit {
	return []limit{
		{"person", f.Person, 0, 1_000_000, count(&l.Person)},
		{"address", f.Address, 0, 1_000_000, count(&l.Address)},
		{"total", f.Total, 0, 1_000_000, count(&l.Total)},
		{"topics", f.Topics, 1, 10_000, count(&l.Topics)},
		{"pages", f.Pages, 0, 1_000_000, count(&l.Pages)},
		{"message", f.Message, 128, 1 << 20, count(&l.Message)},
		{"messages", f.Messages, 1, 100_000, count(&l.Messages)},
		{"frames", f.Frames, 1, 1000, count(&l.Frames)},
		{"kept", f.Kept, 1, 1_000_000, count(&l.Kept)},
		{"renders", f.Renders, 1, 100_000, count(&l.Renders)},
		{"queue", f.Queue, 1, 1_000_000, count(&l.Queue)},
		{"waiting", f.Waiting, 16, 1 << 20, size(&l.Waiting, kib)},
		{"all", f.All, 1, 1 << 20, size(&l.All, mib)},
		{"write", f.Write, 1, maxSilence, span(&l.Write, time.Second)},
		{"silence", f.Silence, 1, maxSilence, span(&l.Silence, time.Second)},
	}
}

var ladderName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const (
	maxLadderName = 40
	maxTitle      = 80
	maxDeals      = 1000
)

func (f ladderFile) resolve() (ladder.Ladder, error) {
	l := ladder.Ladder{Name: f.Name, Title: f.Title, Game: f.Game, Options: f.Options, Deals: f.Deals, House: f.House}
	if !ladderName.MatchString(f.Name) || len(f.Name) > maxLadderName {
		return l, fmt.Errorf("name cannot be %q: try lower-case letters, digits and single hyphens, at most %d characters", f.Name, maxLadderName)
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
	l.Options = v.Settings.Map()
	if l.Clock, err = f.Clock.resolve(); err != nil {
		return l, err
	}
	if l.Deals < 1 || l.Deals > maxDeals {
		return l, fmt.Errorf("deals cannot be %d: try 1 to %d", l.Deals, maxDeals)
	}
	l.Bots = v.Players
	if f.Bots != nil {
		l.Bots = *f.Bots
	}
	if _, err := l.Sides(); err != nil {
		return l, err
	}
	return l, resolveHouse(&l)
}

func (f clockFile) resolve() (referee.Clock, error) {
	unset := referee.DefaultClock.Milliseconds()
	f.ClockMS.Margin = *cmp.Or(f.Margin, &unset.Margin)
	f.ClockMS.Startup = *cmp.Or(f.Startup, &unset.Startup)
	c := f.ClockMS.Clock()
	return c, c.Check()
}

// resolveHouse fills in the house bots of the game where the ladder names none, and checks
// the named ones otherwise.
func resolveHouse(l *ladder.Ladder) error {
	if l.House == nil {
		l.House = standing(l.Game)
		return nil
	}
	var bots []string
	for _, name := range l.House {
		spec, ok := strings.CutPrefix(name, "@")
		if !ok {
			return fmt.Errorf("house cannot have %q: house bots begin with @, such as %s", name, ladder.Anchor)
		}
		spec, err := house.Canonical(spec)
		if err != nil {
			return err
		}
		if games := house.Games(spec); games != nil && !slices.Contains(games, l.Game) {
			return fmt.Errorf("house cannot have %q, which plays %s: try %s", name, strings.Join(games, ", "), strings.Join(standing(l.Game), ", "))
		}
		if slices.Contains(bots, "@"+spec) {
			return fmt.Errorf("house cannot have %q twice: name each once", "@"+spec)
		}
		bots = append(bots, "@"+spec)
	}
	if !slices.Contains(bots, ladder.Anchor) {
		return fmt.Errorf("house cannot be %q: add %s, the anchor of the ratings", l.House, ladder.Anchor)
	}
	l.House = bots
	return nil
}

// standing returns the house bots that a ladder of a game has by default.
func standing(game string) (names []string) {
	for _, spec := range house.Standing(game) {
		names = append(names, "@"+spec)
	}
	return names
}
