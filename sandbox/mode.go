package sandbox

import "fmt"

// The modes that a user can choose, besides the names of levels. Auto is the best level
// available, Off is no sandbox.
const (
	Auto = "auto"
	Off  = "off"
)

// Choose returns the best level of this machine for a mode, or for the name of the lowest
// acceptable level, with a notice for the user, if any.
func Choose(mode string) (level Level, notice string, err error) {
	least, err := leastOf(mode)
	if err != nil || mode == Off {
		return None, "", err
	}
	r := Probe()
	if r.Level < least {
		return None, "", fmt.Errorf("%w; timba doctor shows more, and --sandbox=off uses no sandbox", r.refuse(least))
	}
	return r.Level, r.notice(), nil
}

// CheckMode returns an error unless mode is a mode or a level.
func CheckMode(mode string) error {
	_, err := leastOf(mode)
	return err
}

// leastOf returns the lowest acceptable level of a mode.
func leastOf(mode string) (Level, error) {
	if mode == Auto || mode == Off {
		return None, nil
	}
	level, err := ParseLevel(mode)
	if err != nil || level == None {
		return None, fmt.Errorf("sandbox: %q is not a mode: try auto, off, weak, reduced or full", mode)
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
func (r Report) refuse(want Level) error {
	for _, l := range r.Layers {
		if !l.OK {
			return step(l.Name, fmt.Errorf("this machine has level %s, but %s is required: %s: %s", r.Level, want, l.Error, l.Fix))
		}
	}
	return step("level", fmt.Errorf("this machine has level %s, but %s is required", r.Level, want))
}
