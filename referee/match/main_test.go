package match

import (
	"runtime/debug"
	"testing"

	"github.com/timba-arena/timba/referee/refereetest"
)

// builds is a directory for programs that tests build.
var builds string

// modes are the bots that the test binary can be, by its first argument.
var modes = refereetest.Modes{}

// TestMain lets the test binary be a bot, also in a sandbox.
func TestMain(m *testing.M) {
	refereetest.Main(m, modes, func(dir string) error {
		debug.SetGCPercent(400) // many short games
		builds = dir
		return nil
	})
}
