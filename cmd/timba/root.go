package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// The exit statuses of every command; SPEC.md, "Exit status".
const (
	exitGood      = 0
	exitFault     = 1 // a bot's fault, a check that failed, a lost test
	exitError     = 2 // wrong usage, or a failure of our own
	exitNoVerdict = 3 // broken off, or a test that ended without a verdict
)

// These end a command with their status. What there is to say has been said.
var (
	errFault     = errors.New("a bot's fault")
	errNoVerdict = errors.New("no verdict")
)

// run is the whole program but for the operating system's part of it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch cmd, err := root.ExecuteContextC(ctx); {
	case err == nil:
		return exitGood
	case errors.Is(err, errFault):
		return exitFault
	case errors.Is(err, errNoVerdict):
		return exitNoVerdict
	default:
		fmt.Fprintf(stderr, "timba: %v%s\n", err, whatToTry(cmd, err))
		return exitError
	}
}

// whatToTry goes behind what cobra says of wrong usage, which says no more than
// what is wrong.
func whatToTry(cmd *cobra.Command, err error) string {
	for _, usage := range []string{"accepts ", "requires ", "unknown flag", "unknown shorthand", "flag needs", "invalid argument"} {
		if strings.HasPrefix(err.Error(), usage) {
			return fmt.Sprintf(": try %s: %s --help tells more", cmd.UseLine(), cmd.CommandPath())
		}
	}
	return ""
}

// unknownCommand are the Args of a command that only has others below it: it tells
// of those that are alike.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	path := cmd.CommandPath()
	cmd.SuggestionsMinimumDistance = 2
	if alike := cmd.SuggestionsFor(args[0]); len(alike) > 0 {
		return fmt.Errorf("there is no command %q: try %s %s", path+" "+args[0], path, strings.Join(alike, ", "))
	}
	return fmt.Errorf("there is no command %q: %s --help tells which there are", path+" "+args[0], path)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "timba",
		Short:         "A referee for bots that play Brisca, Tute, La Podrida, Tebes and Teeko",
		Long:          "timba plays matches between bots written in any language: it speaks a line protocol\nwith them over stdin and stdout, validates every move, keeps the clocks and the replays.\n\nTry: timba demo",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.AddCommand(
		newMatch(), newCheck(), newInit(), newDemo(), newGames(), newPerft(), newReplay(), newExplain(), newPlay(), newBot(), newBench(), newDoctor(),
		newLogin(), newLogout(), newSubmit(), newBots(), newStandings(), newMatches(), newLogs(), newReplays(), newTokens(), newAdmin(), newServe(),
	)
	return root
}

// self is how the user started this program, for commands to type next.
func self() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/timba"
	}
	return quoted(os.Args[0])
}

// version is what the build knows of where it comes from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	return v + " " + info.GoVersion
}
