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
	least, err := minLevel(mode)
	if err != nil || mode == Off {
		return LevelNone, "", err
	}
	r := Probe()
	if r.Level < least {
		return LevelNone, "", fmt.Errorf("%w; timba doctor shows more, and --sandbox=off uses no sandbox", r.levelError(least))
	}
	return r.Level, r.notice(), nil
}

// CheckMode returns an error unless mode is a mode or a level.
func CheckMode(mode string) error {
	_, err := minLevel(mode)
	return err
}

// minLevel returns the lowest acceptable level of a mode.
func minLevel(mode string) (Level, error) {
	if mode == Auto || mode == Off {
		return LevelNone, nil
	}
	level, err := ParseLevel(mode)
	if err != nil || level == LevelNone {
		return LevelNone, fmt.Errorf("sandbox: %q is not a mode: try auto, off, weak, reduced or full", mode)
	}
	return level, nil
}

// notice returns a text about the level, with what it does not block.
func (r Report) notice() string {
	switch r.Level {
	case LevelFull:
		return "sandbox: FULL"
	case LevelNone:
		return "sandbox: NONE: bots run with all your rights, so use only programs that you trust; timba doctor shows why"
	}
	return fmt.Sprintf("sandbox: %s: docs/sandbox.md explains what this level does not block, and timba doctor shows what would help", r.Level)
}

// levelError returns why a level cannot be reached.
func (r Report) levelError(want Level) error {
	for _, l := range r.Layers {
		if !l.OK {
			return wrapStep(l.Name, fmt.Errorf("this machine has level %s, but %s is required: %s: %s", r.Level, want, l.Error, l.Fix))
		}
	}
	return wrapStep("level", fmt.Errorf("this machine has level %s, but %s is required", r.Level, want))
}
