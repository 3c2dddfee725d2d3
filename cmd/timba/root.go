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

	"github.com/timba-arena/timba/referee/text"
)

// The exit statuses of every command; SPEC.md, "Exit status".
const (
	exitGood      = 0
	exitFault     = 1 // a bot's fault, a check that failed, a lost test
	exitError     = 2 // wrong usage, or an error of timba
	exitNoVerdict = 3 // interrupted, or a test that ended without a verdict
)

// These end a command with their exit status and without a message.
var (
	errFault     = errors.New("a bot's fault")
	errNoVerdict = errors.New("no verdict")
	errTold      = errors.New("an error that stderr has already")
)

// run runs a command line until it ends or a signal comes, and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return runUntil(ctx, args, stdin, stdout, stderr)
}

// runUntil runs a command line until it ends or the context does, and returns its exit status.
func runUntil(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return exitGood
	case errors.Is(err, errFault):
		return exitFault
	case errors.Is(err, errNoVerdict), ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitNoVerdict
	case errors.Is(err, errTold):
		return exitError
	default:
		fmt.Fprintf(stderr, "timba: %s\n", message(err))
		return exitError
	}
}

// unknownCommand is the Args of a command that has only subcommands. Its error suggests
// similar ones.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	path := cmd.CommandPath()
	cmd.SuggestionsMinimumDistance = 2
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		return fmt.Errorf("command %q does not exist: try %s %s", path+" "+args[0], path, strings.Join(similar, ", "))
	}
	return fmt.Errorf("command %q does not exist: %s --help lists the commands", path+" "+args[0], path)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "timba",
		Short:         "A referee for bots that play Brisca, Tute, La Podrida, Tebes and Teeko",
		Long:          "timba plays matches between bots written in any language. It exchanges lines with them over\nstdin and stdout, validates every move, keeps the clocks and records replays.\n\nTry: timba demo",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.AddCommand(
		newMatch(), newCheck(), newInit(), newDemo(), newGames(), newPerft(), newReplay(), newExplain(), newPlay(), newBot(), newEnv(), newTrain(), newExperiment(), newBench(), newDoctor(),
		newLogin(), newLogout(), newSubmit(), newConnect(), newBots(), newStandings(), newMatches(), newLogs(), newMessages(), newReplays(), newTokens(), newAdmin(), newServe(), newWorker(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetFlagErrorFunc(flagError)
	checkUsage(root)
	return root
}

// self returns the command that started this program, for suggested commands.
func self() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/timba"
	}
	return text.Quote(os.Args[0])
}

// version returns the version of the module and of Go, from the build information.
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
