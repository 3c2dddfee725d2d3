package sandbox

import "fmt"

// Mode is what a user asks for.
type Mode string

// Auto takes what there is, On refuses to start without a sandbox, Off does
// without.
const (
	Auto Mode = "auto"
	On   Mode = "on"
	Off  Mode = "off"
)

// Choose gives the level that a mode leads to for matches, with a notice for the
// user where there is something to know.
func Choose(m Mode) (level Level, notice string, err error) {
	const why = "matches are not sandboxed yet: bots run with all your rights, so play only programs that you trust"
	switch m {
	case Off:
		return None, "", nil
	case Auto:
		return None, "sandbox: NONE: " + why, nil
	case On:
		return None, "", fmt.Errorf("sandbox: on is not possible: %s; use --sandbox=off", why)
	}
	return None, "", fmt.Errorf("sandbox: %q is not a mode: try auto, on or off", m)
}
