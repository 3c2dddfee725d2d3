package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules/games"
)

// checkDefaults are the options of a check before flags change them. Tests give bots more time.
var checkDefaults = check.Defaults()

// checkFlags are the flags of a check as the user writes them.
type checkFlags struct {
	games                []string
	set                  []string
	seed                 string
	clock                referee.Clock
	quick, json, outside bool
	sandbox              sandboxFlags
	time                 time.Duration
}

func newCheck() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check BOT",
		Short: "Check whether a bot follows the protocol, and print what to change",
		Long: "Starts a bot and tests all that SPEC.md requires of bots: the greeting, every game with\n" +
			"every option, dozens of games in one process, unknown lines and keys, the clock, the\n" +
			"goodbye. For each failure it prints the last lines of both sides and what to change.\n" +
			"The bot is sandboxed as in a match.\n\n" +
			"A BOT is a house bot (@random), a directory with a timba.toml or a recognised main file\n" +
			"(bot.py, bot.c, ...), such a file alone, or a command in quotes.\n\n" +
			"Exit status: 0 the bot passes (perhaps with warnings), 1 it fails, 2 wrong usage or an\n" +
			"error of timba, 3 interrupted.",
		Example: "  timba check mybot\n" +
			"  timba check \"python3 bot.py\" --games brisca,tute --quick\n" +
			"  timba check ./mybot --movetime 100 --json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.games, "games", nil, "play only these `games` (default: all that the bot claims)")
	flags.StringArrayVar(&f.set, "set", nil, "play only with this value of an option, as in players=2; repeat it for several options")
	flags.StringVar(&f.seed, "seed", "0", "seed: 64 hexadecimal digits or a number; the same seed deals the same games")
	cli.MsFlag(cmd, &f.clock.Move, "movetime", 1000, 1, "milliseconds for each move")
	cli.MsFlag(cmd, &f.clock.Margin, "margin", 50, 0, "milliseconds that a move may be late")
	cli.MsFlag(cmd, &f.clock.Startup, "startup", 10_000, 1, "milliseconds from the start of the bot to its ready")
	flags.BoolVar(&f.quick, "quick", false, "fewer games: each option once, without all pairs of options")
	flags.DurationVar(&f.time, "time", checkDefaults.Time, "start no more games after this time")
	f.sandbox.add(cmd)
	flags.BoolVar(&f.outside, "outside", false, "if the bot fails in the sandbox, also run it outside, with all your rights")
	flags.BoolVar(&f.json, "json", false, "write the report as JSON")
	return cmd
}

func (f *checkFlags) run(cmd *cobra.Command, bot string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	sandboxed, err := f.sandbox.choose(cmd, program.BotSpec{Bot: bot})
	if err != nil {
		return err
	}
	p, err := cli.Resolver(cmd, f.sandbox.buildLevel(sandboxed)).Resolve(cmd.Context(), bot)
	if err != nil {
		return err
	}
	p.Sandbox = sandboxed
	// This variable would hide that a bot in Python does not flush its output, and so fails on other machines.
	os.Unsetenv("PYTHONUNBUFFERED")
	noticeCredit(cmd.ErrOrStderr())
	w := cmd.OutOrStdout()
	if !f.json {
		fmt.Fprintf(w, "%s: %s\n%s, seed %s\n\n", p.Name, strings.Join(p.Command, " "), o.Clock, f.seed)
		bar := cli.NewProgress(cmd.ErrOrStderr(), "games") // on a terminal
		o.OnProgress = bar.Set
		o.OnCheck = func(c check.Check) {
			bar.Clear()
			c.WriteLine(w)
		}
	}
	result, err := check.Run(cmd.Context(), p, o)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(cmd.ErrOrStderr(), "interrupted")
		return cli.ErrNoVerdict
	case err != nil:
		return err
	}
	if f.json {
		if err := cli.WriteJSON(w, result); err != nil {
			return err
		}
	} else {
		result.WriteSummary(w)
	}
	if result.Verdict == check.Failed {
		return cli.ErrFault
	}
	return nil
}

func (f *checkFlags) options() (check.Options, error) {
	o := checkDefaults
	o.Clock, o.Quick, o.RetryUnsandboxed, o.Time = f.clock, f.quick, f.outside, f.time
	if err := o.Clock.Check(); err != nil {
		return o, err
	}
	if f.time <= 0 {
		return o, fmt.Errorf("check: time cannot be %v: try 2m", f.time)
	}
	var err error
	if o.Seed, err = referee.ParseSeed(f.seed); err != nil {
		return o, err
	}
	if o.Set, err = parseSettings(f.set); err != nil {
		return o, err
	}
	for _, name := range f.games {
		g, err := games.Find(name)
		if err != nil {
			return o, err
		}
		o.Games = append(o.Games, g)
	}
	return o, nil
}
