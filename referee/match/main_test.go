package match

import (
	"runtime/debug"
	"testing"

	"github.com/timba-arena/timba/referee/refereetest"
)

// builds is a directory for programs that the tests build.
var builds string

// modes are the bots in the test binary, by its first argument.
var modes = refereetest.Modes{}

// TestMain makes the test binary a bot if its first argument names one, also in a sandbox.
func TestMain(m *testing.M) {
	refereetest.Main(m, modes, func(dir string) error {
		debug.SetGCPercent(400) // many short games
		builds = dir
		return nil
	})
}
