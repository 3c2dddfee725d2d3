package referee

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// Sandbox is how a bot is sandboxed.
type Sandbox struct {
	Level  sandbox.Level // the lowest acceptable level
	Most   sandbox.Level // use no layers above this level; None for all there are
	Limit  sandbox.Limit
	Freeze bool // stop the bot while it is not its turn; requires Full
}

// Best returns the level that a bot gets on this machine, None without a sandbox.
func (h *Sandbox) Best() sandbox.Level {
	if h == nil {
		return sandbox.None
	}
	if h.Most == sandbox.None {
		return sandbox.Probe().Level
	}
	return min(h.Most, sandbox.Probe().Level)
}

// spec returns the sandbox's Spec for a bot.
func (b Bot) spec() (sandbox.Spec, error) {
	s := sandbox.Spec{Args: b.Command, Dir: b.Dir, Limit: b.Sandbox.Limit, Level: b.Sandbox.Level, Most: b.Sandbox.Most}
	if b.Sandbox.Freeze {
		s.Level = sandbox.Full
	}
	if s.Dir != "" {
		return s, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return s, fmt.Errorf("referee: finding the working directory: %w", err)
	}
	shared := interpreter.Shared(here)
	if !shared {
		s.Dir = here
	}
	// A shared directory, for example the user's home, is not shown. Of it, and of what is
	// outside the directory, only the files that the command names are shown, at absolute paths.
	s.Args = append([]string{}, b.Command...)
	for i, word := range s.Args {
		info, err := os.Stat(word)
		if err != nil || i == 0 && filepath.IsAbs(word) {
			continue
		}
		path, err := filepath.Abs(word)
		if err != nil {
			return s, fmt.Errorf("referee: %s: %w", word, err)
		}
		if inside, err := filepath.Rel(here, path); !shared && (err == nil && filepath.IsLocal(inside) || info.IsDir()) {
			continue
		}
		if info.IsDir() && interpreter.Shared(path) {
			return s, fmt.Errorf("referee: a sandboxed bot cannot see %s: put the bot in a separate directory", path)
		}
		s.Args[i] = path
		if dir := filepath.Dir(path); !info.IsDir() && !interpreter.Shared(dir) {
			path = dir // a program may load files beside it
		}
		s.Show = append(s.Show, path)
	}
	return s, nil
}
