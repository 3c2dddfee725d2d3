package referee

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/timba-arena/timba/sandbox"
)

// Hold is how a sandbox holds a bot.
type Hold struct {
	Level sandbox.Level // demanded at least
	Most  sandbox.Level // use no layers above this level; None for all there are
	Limit sandbox.Limit
	Still bool // stopped while it is not its turn; demands Full
}

// best is the level that a bot gets on this machine.
func (h *Hold) best() sandbox.Level {
	if h.Most == sandbox.None {
		return sandbox.Probe().Level
	}
	return min(h.Most, sandbox.Probe().Level)
}

// spec is what a sandbox is told of a bot.
func (b Bot) spec() (sandbox.Spec, error) {
	s := sandbox.Spec{Command: b.Command, Dir: b.Dir, Limit: b.Hold.Limit, Level: b.Hold.Level, Most: b.Hold.Most}
	if b.Hold.Still {
		s.Level = sandbox.Full
	}
	if s.Dir != "" {
		return s, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return s, fmt.Errorf("referee: the working folder: %w", err)
	}
	if !sandbox.Shared(here) {
		s.Dir = here
		return s, nil
	}
	// The folder is one that bots must not see, such as the user's home. What the
	// command names in it is all that is shown, and its paths made absolute.
	s.Command = append([]string{}, b.Command...)
	for i, word := range s.Command {
		info, err := os.Stat(word)
		if err != nil || i == 0 && filepath.IsAbs(word) {
			continue
		}
		path, err := filepath.Abs(word)
		if err != nil {
			return s, fmt.Errorf("referee: %s: %w", word, err)
		}
		if info.IsDir() && sandbox.Shared(path) {
			return s, fmt.Errorf("referee: %s is not shown to a bot: put the bot in a folder of its own", path)
		}
		s.Command[i] = path
		if dir := filepath.Dir(path); !info.IsDir() && !sandbox.Shared(dir) {
			path = dir // beside a program stands what it loads
		}
		s.ReadOnly = append(s.ReadOnly, path)
	}
	return s, nil
}
