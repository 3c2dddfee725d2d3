package referee

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// builds is a folder for programs that tests build.
var builds string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	debug.SetGCPercent(400) // many short games
	var err error
	if builds, err = os.MkdirTemp("", "referee-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(builds)
	return m.Run()
}
