// Package sandbox will run one untrusted process. Its walls are not built yet:
// every machine is at level None, and the commands say so.
package sandbox

import "fmt"

// Level is how much of a bot a machine can hold.
type Level uint8

// None: a bot runs with all the rights of the user who started timba.
const None Level = 0

// String is the level's name.
func (l Level) String() string { return "NONE" }

// Mode is what a user asks for.
type Mode string

// Auto takes what there is, On refuses to start without a sandbox, Off does
// without.
const (
	Auto Mode = "auto"
	On   Mode = "on"
	Off  Mode = "off"
)

// Probe tells the level of this machine and, below the best, why.
func Probe() (Level, string) {
	return None, "this version of timba has no sandbox yet: bots run with all your rights, so play only programs that you trust"
}

// Choose gives the level that a mode leads to on this machine, with a notice for
// the user where there is something to know.
func Choose(m Mode) (level Level, notice string, err error) {
	level, why := Probe()
	switch m {
	case Off:
		return None, "", nil
	case Auto:
		return level, "sandbox: " + level.String() + ": " + why, nil
	case On:
		return level, "", fmt.Errorf("sandbox: on is not possible: %s; use --sandbox=off", why)
	}
	return None, "", fmt.Errorf("sandbox: %q is not a mode: try auto, on or off", m)
}
