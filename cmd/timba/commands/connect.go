package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/cmd/internal/startbot"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/web/remote"
)

type connectFlags struct {
	bot, label              string
	games                   []string
	newVersion, singleMatch bool
}

func newConnect() *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use:   "connect --bot BOT -- COMMAND [ARG...]",
		Short: "Play in the competition with a bot that runs on this machine",
		Long: "Connects a program on this machine to a competition, where it plays while it is connected. The first\n" +
			"connection makes the bot, with a version that is marked as remote. Later connections continue with\n" +
			"this version and its rating. COMMAND is started once for each rotation of a match, as by timba match,\n" +
			"but without a sandbox. Before the first connection it is started once, to see that it says \"ready\".\n\n" +
			"The margin of the clock is larger, because of the network. If the connection breaks, the clock stops\n" +
			"and the program reconnects by itself. If this takes more than some seconds, the bot loses the current\n" +
			"game, but no other. After Ctrl-C the current match is finished first; a second Ctrl-C ends it at once.\n\n" +
			"Exit status: 0 the program left, 2 the server refuses it or cannot be reached, 3 a second Ctrl-C ended it.",
		Example: "  timba connect --bot mybot -- python3 bot.py\n" +
			"  timba connect --bot mybot --games teeko,tebes -- ./bot",
		Args: cobra.MinimumNArgs(1),
		// Flags after COMMAND are flags of COMMAND.
		DisableFlagsInUseLine: true,
		RunE:                  f.run,
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // flags after COMMAND are flags of COMMAND
	flags.StringVar(&f.bot, "bot", "", "the name of the `BOT` in the competition")
	flags.StringVar(&f.label, "label", "", "a `TEXT` that names a new version, such as 1.2")
	flags.StringSliceVar(&f.games, "games", nil, "the `GAMES` that a new version plays, separated by commas, as in 'brisca players=2,teeko' (default: all)")
	flags.BoolVar(&f.newVersion, "new-version", false, "make a new version even if one is live")
	flags.BoolVar(&f.singleMatch, "once", false, "leave after one match")
	cmd.MarkFlagRequired("bot")
	return cmd
}

func (f *connectFlags) run(cmd *cobra.Command, args []string) error {
	if _, err := exec.LookPath(args[0]); err != nil {
		return fmt.Errorf("connect: %q is not a program that can be started: give a program on the PATH, or a path such as ./bot that is executable", args[0])
	}
	c, err := connect(cmd, true)
	if err != nil {
		return err
	}
	if err := f.tryStart(cmd, args); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	r := &remote.Connector{ClientOptions: remote.ClientOptions{
		ServerAddress: remote.ServerAddress{URL: c.URL, Token: c.Token, Agent: c.Agent}, Bot: f.bot, Label: f.label, Games: f.games, NewVersion: f.newVersion, SingleMatch: f.singleMatch,
		Command: args, Stderr: cmd.ErrOrStderr(),
		OnEvent: func(s remote.ClientEvent) {
			if text := s.Text(); text != "" {
				fmt.Fprintf(w, "%s  %s\n", time.Now().Format(time.TimeOnly), text)
			}
		},
	}}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, startbot.EndSignals()...)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(context.WithoutCancel(cmd.Context()))
	defer cancel()
	go leaveBy(ctx, signals, cmd.Context().Done(), r.Leave, cancel)
	err = r.Run(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return cli.ErrNoVerdict
	case err != nil:
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// greetingTime is the time that tryStart gives a bot to start and to send "ready". In a match, the clock of the ladder
// sets this time, which may be shorter or longer.
const greetingTime = time.Minute

// tryStart starts the bot with the given command once, before the bot goes online, so that a bot that cannot start
// loses no rated matches. It returns nil if the bot starts. If the bot only fails to send "ready" within greetingTime,
// tryStart prints a warning and returns nil. It returns cli.ErrNoVerdict if the context of cmd was cancelled, and
// otherwise an error that says what the bot did wrong.
func (f *connectFlags) tryStart(cmd *cobra.Command, command []string) error {
	o := checkDefaults
	o.Clock.Startup = greetingTime
	err := check.TryStart(cmd.Context(), program.Program{Contestant: match.Contestant{Name: f.bot, Command: command}}, o)
	failure, ok := errors.AsType[*check.Failure](err)
	switch {
	case errors.Is(err, context.Canceled):
		return cli.ErrNoVerdict
	case !ok:
		return err
	case failure.Reason.Kind == fault.NoReady:
		fmt.Fprintf(cmd.ErrOrStderr(), "connect: warning: %s has said no \"ready\" within %v; a match allows what the clock of its ladder says\n", f.bot, greetingTime)
		return nil
	}
	return fmt.Errorf("connect: %s does not go online, because its command does not start as in a match: %s: %s", f.bot, failure.Text, failure.Change)
}

// leaveBy ends a running bot. It calls leave after the first signal and when done is closed. After a second signal it
// also calls atOnce, and returns. It also returns when ctx ends. Since the first signal closes done as well, leave
// may be called more than once.
func leaveBy(ctx context.Context, signals <-chan os.Signal, done <-chan struct{}, leave, atOnce func()) {
	for n := 0; n < 2; {
		select {
		case <-signals:
			n++
		case <-done:
			done = nil
		case <-ctx.Done():
			return
		}
		leave()
	}
	atOnce()
}
