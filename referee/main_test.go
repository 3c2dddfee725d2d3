package referee

import (
	"fmt"
	"os"
	"testing"

	"github.com/timba-arena/timba/sample-bots/house"
)

// The first arguments that make the test binary a bot.
const (
	asHouse  = "bot"    // the house bot that the next one names
	asScript = "script" // what a file of the next one's name says, in step with the referee
)

// TestMain lets the test binary be a bot in real processes.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		var err error
		switch os.Args[1] {
		case asHouse:
			err = house.Run(os.Args[2], os.Stdin, os.Stdout)
		case asScript:
			err = runScript(os.Args[2])
		default:
			err = fmt.Errorf("no bot is called %q", os.Args[1])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
