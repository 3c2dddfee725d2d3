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
	Level  sandbox.Level
	Limit  sandbox.Limit
	Freeze bool // stop the bot while it is not its turn; requires Full
}

// spec returns the sandbox's Spec for a bot.
func (b Bot) spec() (sandbox.Spec, error) {
	s := sandbox.Spec{Args: b.Command, Dir: b.Dir, Limit: b.Sandbox.Limit, Level: b.Sandbox.Level}
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
