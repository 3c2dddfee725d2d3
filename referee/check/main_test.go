package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// misbehave is the program of sample-bots/misbehave.
var misbehave string

// TestMain lets the test binary be a bot in real processes: one of the house's, or
// a beginner's.
func TestMain(m *testing.M) {
	sandbox.MaybeInit()
	be := map[string]func(string) error{
		"bot":      func(name string) error { return house.Run(name, os.Stdin, os.Stdout) },
		"beginner": runBeginner,
		"hiker":    runHiker,
	}
	if len(os.Args) == 3 && be[os.Args[1]] != nil {
		if err := be[os.Args[1]](os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		syscall.Exit(0) // in a sandbox, which does not inherit what is set below
	}
	// A program with the race detector otherwise sleeps a second before it exits.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "check-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	misbehave = filepath.Join(dir, "misbehave")
	build := exec.Command("go", "build", "-o", misbehave, "../../sample-bots/misbehave")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building misbehave: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
