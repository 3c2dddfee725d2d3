package program

import (
	"path/filepath"
	"strings"

	"github.com/timba-arena/timba/sandbox/interpreter"
)

// Allowed returns an error for the first word of a stranger's command that leads out of the
// bot's directory to anything but the system's programs: a sandbox shows the program that it is
// to start, and the directory around it, so that a bot could have any directory of the server
// shown. private is a directory of which nothing may be shown but the bot's.
func Allowed(dir, private, word string) error {
	known := func(path string) bool { return interpreter.System(path) && !near(path, private) }
	return interpreter.Bounds{Dir: dir, Known: known}.Check(word)
}

// near reports whether the installation that a program belongs to is in a directory, or the
// other way round.
func near(path, private string) bool {
	installation := filepath.Dir(path)
	if filepath.Base(installation) == "bin" {
		installation = filepath.Dir(installation)
	}
	inside := func(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }
	return inside(path, private) || inside(private+"/", installation)
}
