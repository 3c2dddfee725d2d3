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
	"path/filepath"
	"strings"
	"syscall"

	"github.com/timba-arena/timba/sample-bots/house"
)

// The exit statuses; SPEC.md, "Exit status".
const (
	failed      = 2
	interrupted = 3
)

func init() {
	if len(os.Args) != 3 || os.Args[1] != "bot" {
		return
	}
	spec := strings.TrimPrefix(os.Args[2], "@")
	if _, err := house.Find(spec); err != nil {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		os.Exit(interrupted)
	}()
	if err := house.Run(spec, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), err)
		os.Exit(failed)
	}
	os.Exit(0)
}
