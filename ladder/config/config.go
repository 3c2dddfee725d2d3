// Package config reads an operator's configuration file: ladders, limits and the level of the sandbox. A TOML
// file overrides the values of a default file. Begin with Read.
package config

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/internal/tomltext"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/sandbox"
)

//go:embed timba.toml
var defaultTOML string

// ServerSchema is the JSON schema of a configuration file, for editors.
//
//go:embed server.schema.json
var ServerSchema []byte

// DefaultTOML returns the default configuration file, with comments.
func DefaultTOML() []byte { return []byte(defaultTOML) }

// Config is the configuration of a competition. The keys of a file are the names of the fields in lower case;
// timba.toml describes them.
type Config struct {
	Registration string     // "invite" or "open"
	Workers      int        // matches at the same time; 0 means one for each core
	Memory       size.Bytes // for all bots and builds together; 0 means as much as the machine has
	// Pause is the time between the starts of two matches of a ladder, once every version has played
	// ladder.EnoughMatches matches there. It saves disk space, because every match is stored.
	Pause   time.Duration
	Sandbox sandbox.Level `toml:"-"`
	Site    struct {
		Embed     bool   // whether pages of other sites may show replays in a frame
		Downloads string // absolute path of a directory whose files the page /download offers; "" means none
		URL       string // public address without a slash at the end; if it is empty, the address of each request is used
	}
	Certificate Certificate
	Limits      ladder.Limits
	Play        ladder.PlayLimits
	Remote      ladder.RemoteLimits
	Live        struct{ Total int } // Total limits how many pages show running games at the same time
	Storage     ladder.Storage
	Ladders     []ladder.Ladder `toml:"-"` // in the order in which they are displayed
	// MemoryUnset means that the file does not set limits.memory. A server may then lower Limits.Memory so that
	// the bots of a match on any ladder fit into the server's memory.
	MemoryUnset bool `toml:"-"`
}

// Certificate says how a server obtains the certificate for its domain by the ACME protocol.
type Certificate struct {
	Directory string // URL of the ACME server's directory
	Root      string // file with the root certificate of the ACME server; empty means the roots of the system
	HTTP      string // address that answers the challenges of the ACME server and redirects visitors to https
}

// file is the content of a configuration file before it is checked. It has its own version of some fields of Config,
// because their form in the file is different.
type file struct {
	Config
	Sandbox string
	Ladder  []ladderFile
}

// HasOpenRegistration reports whether anybody may open an account without an invite.
func (c *Config) HasOpenRegistration() bool { return c.Registration == "open" }

// Default returns the default configuration.
func Default() *Config {
	c, err := Parse(datadir.ConfigFile, nil)
	if err != nil {
		panic("config: the default configuration: " + err.Error()) // a test checks that it is valid
	}
	return c
}

// Read reads the configuration file at path. If the file does not exist, it returns the default configuration.
func Read(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("configuration: %w", datadir.ExplainDenied(err))
	}
	return Parse(path, data)
}

// Parse reads the TOML text data, whose values override the default ones. Errors begin with name, the name of
// the file, and quote the key, its value and what to try.
func Parse(name string, data []byte) (*Config, error) {
	var f file
	if _, err := toml.Decode(defaultTOML, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	ladders := f.Ladder
	f.Ladder = nil
	meta, err := toml.Decode(string(data), &f)
	if err != nil {
		return nil, ladder.Errorf(ladder.Invalid, "", "%s: %s", name, tomltext.Message(err))
	}
	if !meta.IsDefined("ladder") {
		f.Ladder = ladders
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		if table := tableOf(unknown[0]); table != "" {
			return nil, ladder.Errorf(ladder.Invalid, "", "%s: unknown key %q", name, unknown[0]).Try("write it below the line [%s]", table)
		}
		return nil, ladder.Errorf(ladder.Invalid, "", "%s: unknown key %q", name, unknown[0]).Try("try %s", strings.Join(siblings(unknown[0]), ", "))
	}
	if err := f.resolve(); err != nil {
		return nil, ladder.Errorf(ladder.Invalid, "", "%s: %w", name, err)
	}
	return &f.Config, nil
}

// tableOf returns the TOML table of which an unknown key at the beginning of the file is a key, or "".
func tableOf(unknown toml.Key) string {
	if len(unknown) > 1 {
		return ""
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[file]()) {
		table := keyOf(f)
		if table != "" && f.Type.Kind() == reflect.Struct && slices.Contains(siblings(toml.Key{table, unknown[0]}), unknown[0]) {
			return table
		}
	}
	return ""
}

// siblings returns the valid keys of the TOML table in which the key unknown was found, for an error message.
func siblings(unknown toml.Key) []string {
	t := reflect.TypeFor[file]()
	for _, key := range unknown[:len(unknown)-1] {
		f, ok := t.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, key) })
		if !ok {
			break
		}
		if t = f.Type; t.Kind() == reflect.Slice {
			t = t.Elem()
		}
	}
	var keys []string
	for _, f := range reflect.VisibleFields(t) {
		if key := keyOf(f); key != "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// keyOf returns the TOML key of a field of a struct, or "" if it has none.
func keyOf(f reflect.StructField) string {
	tag := f.Tag.Get("toml")
	if f.Anonymous || tag == "-" {
		return ""
	}
	return cmp.Or(tag, strings.ToLower(f.Name))
}

// MinMemory is the lowest memory limit for a bot.
const MinMemory size.Bytes = 16 << 20

const (
	day      = 24 * time.Hour
	maxCount = 1_000_000
	tib      = 1 << 40
	oneMiB   = 1 << 20
)

// resolve checks the values of a file and sets the fields of Config that are computed from them.
func (f *file) resolve() (err error) {
	if f.Registration != "invite" && f.Registration != "open" {
		return fmt.Errorf("registration cannot be %q: try invite or open", f.Registration)
	}
	switch f.Sandbox {
	case "reduced":
		f.Config.Sandbox = sandbox.LevelReduced
	case "full":
		f.Config.Sandbox = sandbox.LevelFull
	default:
		return fmt.Errorf("sandbox cannot be %q: try reduced or full; strangers' bots are not run with less", f.Sandbox)
	}
	if f.Site.URL, err = publicURL(f.Site.URL); err != nil {
		return err
	}
	if err := checkDownloads(f.Site.Downloads); err != nil {
		return err
	}
	if u, err := url.Parse(f.Certificate.Directory); err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("certificate.directory cannot be %q: try the address of an ACME directory, such as https://acme-v02.api.letsencrypt.org/directory", f.Certificate.Directory)
	}
	if f.MemoryUnset = f.Limits.Memory == 0; f.MemoryUnset {
		f.Limits.Memory = size.Bytes(sandbox.DefaultLimit.Memory)
	}
	if err := cmp.Or(
		checkRange("workers", f.Workers, 0, 1024),
		checkRange("memory", f.Memory, 0, 1024*tib),
		checkRange("pause", f.Pause, 0, day),
		checkRange("limits.memory", f.Limits.Memory, MinMemory, tib),
		checkRange("limits.upload", f.Limits.Upload, oneMiB, tib/64),
		checkRange("limits.bots", f.Limits.Bots, 1, maxCount),
		checkRange("limits.versions", f.Limits.Versions, 1, maxCount),
		checkRange("limits.house", f.Limits.House, 0, maxCount),
		checkRange("limits.unrated", f.Limits.UnratedMatches, 0, maxCount),
		checkRange("limits.time", f.Limits.Time, time.Minute, 7*day),
		checkRange("limits.requests", f.Limits.Requests, 2, maxCount),
		checkRange("play.games", f.Play.Games, 0, 10_000),
		checkRange("play.day", f.Play.Day, 1, maxCount),
		checkRange("play.think", f.Play.Think, 10*time.Millisecond, time.Minute),
		checkRange("play.move", f.Play.Move, time.Second, day),
		checkRange("remote.allowance", f.Remote.Allowance, 10*time.Millisecond, 10*time.Second),
		checkRange("remote.comeback", f.Remote.Comeback, time.Second, 10*time.Minute),
		checkRange("remote.person", f.Remote.Person, 0, maxCount),
		checkRange("remote.total", f.Remote.Total, 0, maxCount),
		checkRange("live.total", f.Live.Total, 0, maxCount),
		checkRange("storage.days", f.Storage.Days, 0, 36_500),
		checkRange("storage.size", f.Storage.Size, 0, 1024*tib),
		checkRange("storage.room", f.Storage.Room, 0, 1024*tib),
	); err != nil {
		return err
	}
	if _, err := f.BotLimit().Check(); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	if len(f.Ladder) == 0 {
		return errors.New("ladder cannot be an empty list: name at least one, or leave it out for the default ladders")
	}
	for i, l := range f.Ladder {
		resolved, err := l.resolve()
		if err != nil {
			return fmt.Errorf("ladder %d, %q: %w", i+1, l.Name, err)
		}
		if slices.ContainsFunc(f.Ladders, func(o ladder.Ladder) bool { return o.Name == l.Name }) {
			return fmt.Errorf("ladder %d: name %q is used twice: give each ladder its own", i+1, l.Name)
		}
		f.Ladders = append(f.Ladders, resolved)
	}
	return nil
}

// checkRange returns an error if value is less than least or greater than most. key is the key of the value in the
// file. It also returns an error for a duration that is not a whole number of milliseconds: the user has forgotten
// the unit.
func checkRange[T int | size.Bytes | time.Duration](key string, value, least, most T) error {
	if d, ok := any(value).(time.Duration); ok && d%time.Millisecond != 0 {
		return fmt.Errorf("%s cannot be %d: name its unit, as in \"1m30s\" or \"250ms\"", key, d)
	}
	if value >= least && value <= most {
		return nil
	}
	return fmt.Errorf("%s cannot be %v: try %v to %v", key, value, least, most)
}

// publicURL returns text, the public address of a server, without a slash at its end. It returns an error if text
// is not an address that consists of a scheme and a host. An empty text is valid.
func publicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.String() != u.Scheme+"://"+u.Host {
		return "", fmt.Errorf("site.url cannot be %q: try the scheme and the host alone, in ASCII (xn--...), such as https://bots.example.org", text)
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && err != nil {
		return "", fmt.Errorf("site.url cannot be %q: try a port from 1 to 65535, or leave it out", text)
	}
	return u.String(), nil
}

// checkDownloads returns an error if path, the directory of files that the site offers, is not the absolute path of a
// directory. An empty path is valid.
func checkDownloads(path string) error {
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		return fmt.Errorf("site.downloads cannot be %q: try an absolute path, such as /srv/timba/dist", path)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return fmt.Errorf("site.downloads cannot be %q: there is no such directory that the server can read: make it, or leave the key out", path)
	}
	return nil
}

// BotLimit returns the limits of the sandbox in which a bot plays.
func (c *Config) BotLimit() sandbox.Limit {
	limit := sandbox.DefaultLimit
	limit.Memory = int64(c.Limits.Memory)
	return limit
}
