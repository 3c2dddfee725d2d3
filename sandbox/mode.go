package sandbox

import (
	"fmt"
	"strings"
)

// The modes that a user asks for, beside the names of levels. Auto takes what
// there is, On refuses what is weaker than Reduced, Off does without.
const (
	Auto = "auto"
	On   = "on"
	Off  = "off"
)

// Choose gives the level that a mode, or the name of a level that is needed at
// least, leads to on this machine, with a notice for the user where there is
// something to know.
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
		return None, "", fmt.Errorf("%w; timba doctor tells more, and --sandbox=off does without", r.refuse(r.Level, least))
	}
	return r.Level, r.notice(), nil
}

// CheckMode refuses what is no mode.
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

// notice tells a level, and what it leaves open.
func (r Report) notice() string {
	switch r.Level {
	case Full:
		return "sandbox: FULL"
	case None:
		return "sandbox: NONE: bots run with all your rights, so play only programs that you trust; timba doctor tells why"
	}
	return fmt.Sprintf("sandbox: %s: docs/sandbox.md tells what that leaves open, timba doctor what would help", r.Level)
}

// refuse tells why a level cannot be reached.
func (r Report) refuse(got, want Level) error {
	for _, l := range r.Layers {
		if !l.OK {
			return step(l.Name, fmt.Errorf("this machine holds %s where %s is needed: %w: %s", got, max(want, Weak), l.Err, l.Fix))
		}
	}
	return step("level", fmt.Errorf("%s was chosen where %s is needed", got, want))
}
