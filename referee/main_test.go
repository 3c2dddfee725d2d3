package referee

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/timba-arena/timba/sample-bots/house"
)

// The first arguments that make the test binary a bot.
const (
	asHouse  = "bot"    // the house bot that the next one names
	asScript = "script" // what a file of the next one's name says, in step with the referee
)

// modes are the bots that the test binary can be.
var modes = map[string]func(arg string) error{
	asHouse:  func(name string) error { return house.Run(name, os.Stdin, os.Stdout) },
	asScript: runScript,
}

// TestMain lets the test binary be a bot in real processes.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && !strings.HasPrefix(os.Args[1], "-") {
		be, ok := modes[os.Args[1]]
		if !ok {
			fmt.Fprintf(os.Stderr, "no bot is called %q\n", os.Args[1])
			os.Exit(2)
		}
		if err := be(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(m))
}

// builds is a folder for programs that tests build.
var builds string

func run(m *testing.M) int {
	var err error
	if builds, err = os.MkdirTemp("", "referee-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(builds)
	return m.Run()
}
