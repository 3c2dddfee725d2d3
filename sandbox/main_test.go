package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// actions are what the test binary can do inside a sandbox, by its first argument.
var actions = map[string]func(args []string){}

// TestMain runs an action if the test binary was started as the program of a sandbox.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "do" {
		act, ok := actions[os.Args[2]]
		if !ok {
			fmt.Fprintf(os.Stderr, "no action is called %q\n", os.Args[2])
			os.Exit(99)
		}
		args := os.Args[3:]
		for i, arg := range args {
			args[i] = os.ExpandEnv(arg)
		}
		act(args)
		syscall.Exit(0) // in a sandbox os.Exit takes a second under the race detector
	}
	os.Exit(m.Run())
}
