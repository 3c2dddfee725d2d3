package sandbox

import (
	"fmt"
	"strings"
)

// The modes that a user can choose, besides the names of levels. Auto is the best level
// available, On requires Reduced, Off is no sandbox.
const (
	Auto = "auto"
	On   = "on"
	Off  = "off"
)

// Choose returns the level for a mode, or for the name of the lowest acceptable level, on
// this machine, with a notice for the user, if any.
func Choose(mode string) (level Level, notice string, err error) {
	if mode == Off || strings.EqualFold(mode, None.String()) {
		return None, "", nil
	}
	least, err := leastOf(mode)
	if err != nil {
		return None, "", err
	}
	r := Probe()
	if r.Level < least {
		return None, "", fmt.Errorf("%w; timba doctor shows more, and --sandbox=off uses no sandbox", r.refuse(r.Level, least))
	}
	return r.Level, r.notice(), nil
}

// CheckMode returns an error unless mode is a mode or a level.
func CheckMode(mode string) error {
	if mode == Off {
		return nil
	}
	_, err := leastOf(mode)
	return err
}

func leastOf(mode string) (Level, error) {
	switch mode {
	case Auto:
		return None, nil
	case On:
		return Reduced, nil
	}
	level, err := ParseLevel(mode)
	if err != nil {
		return None, fmt.Errorf("sandbox: %q is not a mode: try auto, on, off, weak, reduced or full", mode)
	}
	return level, nil
}

// notice returns a text about the level, with what it does not block.
func (r Report) notice() string {
	switch r.Level {
	case Full:
		return "sandbox: FULL"
	case None:
		return "sandbox: NONE: bots run with all your rights, so use only programs that you trust; timba doctor shows why"
	}
	return fmt.Sprintf("sandbox: %s: docs/sandbox.md explains what this level does not block, and timba doctor shows what would help", r.Level)
}

// refuse returns why a level cannot be reached.
func (r Report) refuse(got, want Level) error {
	for _, l := range r.Layers {
		if !l.OK {
			return step(l.Name, fmt.Errorf("this machine has level %s, but %s is required: %w: %s", got, max(want, Weak), l.Err, l.Fix))
		}
	}
	return step("level", fmt.Errorf("level %s was chosen, but %s is required", got, want))
}
