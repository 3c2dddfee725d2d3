// Package config reads an operator's configuration: ladders, limits and the level
// of the sandbox, from a TOML file on top of the default one.
package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/sandbox"
)

//go:embed ladders.toml
var defaultTOML string

// DefaultTOML returns the default configuration, with comments.
func DefaultTOML() []byte { return []byte(defaultTOML) }

// Config is the configuration of a competition.
type Config struct {
	Registration string // "invite" or "open"
	Workers      int    // matches at the same time, at least 1
	Memory       int64  // bytes that all bots and builds have together; 0: what the machine has
	Embed        bool   // pages of other sites may show replays in a frame
	URL          string // of the site for people, without a slash at its end; "": as each visitor has written it
	// Pause is the time between two matches of a ladder on which every version has
	// had ladder.EnoughMatches of them. It saves disk space: every match is stored.
	Pause time.Duration
	// Idle is the time between two matches of a ladder among house bots alone that have had
	// ladder.EnoughMatches. They tell nothing new, and cost what the bots think.
	Idle    time.Duration
	Sandbox sandbox.Level
	Limits  ladder.Limits
	Play    ladder.PlayLimits
	Remote  ladder.RemoteLimits
	Live    ladder.LiveLimits
	Storage ladder.Storage
	// Fit allows a server to lower Limits.Memory until the bots of every ladder fit into
	// its memory: the configuration does not say what a bot may use.
	Fit     bool
	Ladders []ladder.Ladder // in the order in which they are shown
}

// Open reports whether anybody may open an account.
func (c *Config) Open() bool { return c.Registration == "open" }

// Default returns the configuration without a file.
func Default() *Config {
	c, err := Parse(datadir.ConfigFile, nil)
	if err != nil {
		panic("config: the default configuration: " + err.Error()) // a test reads it
	}
	return c
}

// Read reads a configuration file. A missing file counts as an empty one.
func Read(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a configuration on top of the default one. The name is for errors,
// which quote the key, its value and what to try.
func Parse(name string, data []byte) (*Config, error) {
	var f configFile
	if _, err := toml.Decode(defaultTOML, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	own := f
	own.Ladders = nil
	meta, err := toml.Decode(string(data), &own)
	if err != nil {
		return nil, ladder.Errorf(ladder.Invalid, "", "%s: %w", name, err)
	}
	if !meta.IsDefined("ladder") {
		own.Ladders = f.Ladders
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, ladder.Errorf(ladder.Invalid, "try "+strings.Join(siblingKeys(unknown[0]), ", "), "%s: unknown key %q", name, unknown[0])
	}
	c, err := own.resolve()
	if err != nil {
		return nil, ladder.Errorf(ladder.Invalid, "", "%s: %w", name, err)
	}
	return c, nil
}

// BotLimit returns the limit of a bot's sandbox.
func (c *Config) BotLimit() sandbox.Limit { return botLimit(c.Limits) }

func botLimit(l ladder.Limits) sandbox.Limit {
	limit := sandbox.DefaultLimit
	limit.Memory, limit.Processes = l.Memory, l.Processes
	return limit
}
