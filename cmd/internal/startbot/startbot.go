// Package startbot runs a house bot (part of timba) before the other packages of a program are initialized. Every
// match starts some house bots, and otherwise most of their starting time and memory would go to packages that a
// bot does not need. If the command line is wrong, it does nothing; the command bot, which does the same later,
// reports that.
//
// Go initializes packages as soon as their imports are initialized, in the order of their paths. This package
// imports little, so it comes early.
package startbot

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/timba-arena/timba/sample-bots/house"
)

// Exit statuses that the commands and house bots share.
const (
	ExitError     = 2 // wrong usage or an error of timba
	ExitNoVerdict = 3 // interrupted, or a test that ended without a verdict
)

// EndSignals returns the signals that end a command gracefully. SIGHUP is one of them unless it is ignored,
// as it is under nohup.
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
		name := os.Args[0][strings.LastIndexAny(os.Args[0], `/\`)+1:] // path/filepath would be initialized late
		fmt.Fprintf(os.Stderr, "%s: %v\n", strings.TrimSuffix(name, ".exe"), err)
		os.Exit(ExitError)
	}
	os.Exit(0)
}
