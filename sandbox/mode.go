package sandbox

import "fmt"

// Auto and Off are modes that a user can choose instead of naming a level (how strict the sandbox is). Auto means
// the strictest level that this machine supports. Off means that programs run without a sandbox.
const (
	Auto = "auto"
	Off  = "off"
)

// ChooseLevel returns how strict the sandbox is for a mode that the user has chosen. If mode is Off, the result is
// LevelNone. Otherwise it is the strictest level that this machine supports. If mode is the name of a level and the
// machine does not support that level or a higher one, ChooseLevel returns an error. notice is a line about the level
// for the user, or "" for Off.
func ChooseLevel(mode string) (level Level, notice string, err error) {
	lowest, err := minLevel(mode)
	if err != nil || mode == Off {
		return LevelNone, "", err
	}
	r := Probe()
	if r.Level < lowest {
		return LevelNone, "", fmt.Errorf("%w; timba doctor shows more, and --sandbox=off uses no sandbox", r.levelError(lowest))
	}
	return r.Level, r.notice(), nil
}

// CheckMode returns an error unless mode is Auto, Off or the name of a level above LevelNone.
func CheckMode(mode string) error {
	_, err := minLevel(mode)
	return err
}

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

// notice returns a line for the user that names the level of sandbox on this machine.
func (r MachineReport) notice() string {
	switch r.Level {
	case LevelFull:
		return "sandbox: FULL"
	case LevelNone:
		return "sandbox: NONE: bots run with all your rights, so use only programs that you trust; timba doctor shows why"
	}
	return fmt.Sprintf("sandbox: %s: docs/sandbox.md explains what this level does not block, and timba doctor shows what would help", r.Level)
}

// levelError returns the error for a user who wants a level that this machine does not support. The error says why.
func (r MachineReport) levelError(want Level) error {
	for _, l := range r.Layers {
		if !l.OK {
			return wrapStep(l.Name, fmt.Errorf("this machine has level %s, but %s is required: %s: %s", r.Level, want, l.Error, l.Fix))
		}
	}
	return wrapStep("level", fmt.Errorf("this machine has level %s, but %s is required", r.Level, want))
}
