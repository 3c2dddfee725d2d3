package referee

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/sandbox"
)

// builds is a folder for programs that tests build.
var builds string

// modes are the bots that the test binary can be, by its first argument.
var modes = map[string]func(arg string) error{}

// TestMain lets the test binary be a sandbox's init and a bot in one.
func TestMain(m *testing.M) {
	sandbox.MaybeInit()
	if len(os.Args) == 3 && modes[os.Args[1]] != nil {
		if err := modes[os.Args[1]](os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		// With the race detector the other way out takes a second.
		syscall.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	debug.SetGCPercent(400) // many short games
	var err error
	if builds, err = os.MkdirTemp("", "referee-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(builds)
	if err := os.Chmod(builds, 0o755); err != nil { // for the users that sandboxes run bots as
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
