// Package cli has what the programs timba and timba-lab share: their start and end, flags, errors, and the
// output of results.
//
// A program calls Main with a function that returns its Root. Most commands are made with Result.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/startbot" // the command bot starts early
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/terminal/screen"
)

// Exit statuses of all commands.
const (
	ExitGood      = 0
	ExitFault     = 1
	ExitError     = startbot.ExitError
	ExitNoVerdict = startbot.ExitNoVerdict
)

// Statuses describes each exit status, for docs/matches.md and the help of the programs. The index is the status.
var Statuses = []string{
	ExitGood:      "success; with `--sprt`: H1 is accepted, in a gauntlet against each opponent, also if a bot had a fault",
	ExitFault:     "a bot had a fault, a check failed or differences were found; with `--sprt`: H0 is accepted, in a gauntlet against any opponent",
	ExitError:     "wrong usage, or an error of the program itself",
	ExitNoVerdict: "interrupted; with `--sprt`: no verdict",
}

// StatusHelp returns the section of a command's help text that lists the exit statuses.
func StatusHelp() string {
	var b strings.Builder
	b.WriteString("Exit status:")
	for status, meaning := range Statuses {
		fmt.Fprintf(&b, "\n  %d  %s", status, strings.ReplaceAll(meaning, "`", ""))
	}
	return b.String()
}

// A command that returns one of these errors prints no error message. ErrFault leads to the exit status ExitFault,
// and ErrNoVerdict to ExitNoVerdict. ErrReported leads to ExitError and means that stderr has the message already.
var (
	ErrFault     = errors.New("a bot's fault")
	ErrNoVerdict = errors.New("no verdict")
	ErrReported  = errors.New("an error that stderr has already")
)

// Main runs the command line of this process and exits with its status. newRoot returns the top command of the
// program.
func Main(newRoot func() *cobra.Command) {
	os.Exit(Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs the arguments args of a program whose top command is root, and returns the exit status. The first signal
// to end, such as Ctrl-C, cancels the context of the command; the second one ends the process at once.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), startbot.EndSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return RunUntil(ctx, root, args, stdin, stdout, stderr)
}

// RunUntil runs the arguments args of a program whose top command is root. The command has the context ctx. RunUntil
// prints the error of the command, if any, and returns the exit status.
func RunUntil(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &output{Writer: stdout}
	if screen.Terminal(stdout) == nil {
		stdout = out
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if failed := out.writeError(); failed != nil && (err == nil || errors.Is(err, ErrFault)) {
		err = failed
	}
	switch {
	case err == nil:
		return ExitGood
	case errors.Is(err, ErrFault):
		return ExitFault
	case errors.Is(err, ErrNoVerdict), ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitNoVerdict
	case errors.Is(err, ErrReported):
		return ExitError
	default:
		said := Message(err)
		if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(said, `" `+missing) { // the message does not say what to do
			said += ": check its name and its directory"
		}
		fmt.Fprintf(stderr, "%s: %s\n", root.Name(), said)
		return ExitError
	}
}

// Root makes cmd the top command of a program and returns it. It adds the given subcommands, the help, the version,
// and the checks and messages of timba for wrong usage.
func Root(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	Group(cmd, subcommands...)
	cmd.AddCommand(newMan(), newVersion())
	cmd.Version = versionText()
	cmd.Long = cmp.Or(cmd.Long, cmd.Short) + "\n\n" + StatusHelp()
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	cmd.SetFlagErrorFunc(flagError)
	checkUsage(cmd)
	return cmd
}

// Group makes cmd a command that only has subcommands, and returns it. Without a subcommand, cmd prints its help.
func Group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.Args = UnknownCommand
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
	cmd.AddCommand(subcommands...)
	return cmd
}

// UnknownCommand checks the arguments of cmd, a command that only has subcommands. If there are any, it returns an
// error, which suggests subcommands with similar names.
func UnknownCommand(cmd *cobra.Command, args []string) error {
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

// Version returns the versions of timba and of Go, separated by a space.
func Version() string {
	return referee.Version() + " " + runtime.Version()
}

// versionText returns Version and, if the program was built from a repository, the hash and date of the commit.
func versionText() string {
	b := programBuild()
	if b.revision == "" {
		return Version()
	}
	return fmt.Sprintf("%s (commit %.12s, %s)", Version(), b.revision, b.time.Format(time.DateOnly))
}

// newVersion returns the command "version", which prints the same as the program's flag --version.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and its date",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s version %s\n", cmd.Root().Name(), versionText())
			return err
		},
	}
}

// build identifies the commit from which a program was built.
type build struct {
	revision string // hash of the commit; "" if unknown
	time     time.Time
}

func programBuild() (b build) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = s.Value
		case "vcs.time":
			b.time, _ = time.Parse(time.RFC3339, s.Value)
		}
	}
	return b
}

// Self returns the shell command that started this program, for use in suggestions.
func Self() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" && strings.Contains(os.Args[0], "go-build") {
		return "go run ." + strings.TrimPrefix(info.Path, info.Main.Path)
	}
	return text.Quote(os.Args[0])
}

// CommandLine returns a shell command that runs this program with the given arguments, which it quotes.
func CommandLine(words ...string) string {
	line := []string{Self()}
	for _, word := range words {
		line = append(line, text.Quote(word))
	}
	return strings.Join(line, " ")
}
