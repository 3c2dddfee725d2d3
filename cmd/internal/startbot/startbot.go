// Package startbot runs a house bot before the rest of a program has started: with every match there are
// some of them, and most of the time and memory of their start would be that of packages that a bot does
// not need. The command bot does the same, later; what is wrong with a command line is left to it.
//
// Go initializes packages as soon as what they import is ready, in the order of their paths. This one
// imports little.
package startbot

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/timba-arena/timba/sample-bots/house"
)

// The exit statuses of every command that a house bot has, too.
const (
	ExitError     = 2 // wrong usage, or an error of timba
	ExitNoVerdict = 3 // interrupted, or a test that ended without a verdict
)

// EndSignals returns the signals that end a command gracefully: SIGHUP only if it is not ignored,
// as under nohup.
func EndSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

func init() {
	if len(os.Args) != 3 || os.Args[1] != "bot" {
		return
	}
	spec := strings.TrimPrefix(os.Args[2], "@")
	if _, err := house.NewPlayer(spec); err != nil {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, EndSignals()...)
	go func() {
		<-signals
		os.Exit(ExitNoVerdict)
	}()
	if err := house.Run(spec, os.Stdin, os.Stdout); err != nil {
		name := os.Args[0][strings.LastIndexAny(os.Args[0], `/\`)+1:] // path/filepath is ready late
		fmt.Fprintf(os.Stderr, "%s: %v\n", strings.TrimSuffix(name, ".exe"), err)
		os.Exit(ExitError)
	}
	os.Exit(0)
}
