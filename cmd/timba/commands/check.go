package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/tournament"
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
	out                  string
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
			"--out stores what happened: a replay of each game in DIR/games, for timba replay, all lines to (<)\n" +
			"and from (>) each process of the bot and its stderr (!) in DIR/lines, and the report. Each failure\n" +
			"then comes with the commands that show it again.\n\n" +
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
	flags.StringArrayVar(&f.set, "set", nil, "play only with this value of an option, as `name=value`; repeat it for several options")
	flags.StringVar(&f.seed, "seed", "0", "seed: 64 hexadecimal digits or a number; the same seed deals the same games")
	cli.MsFlag(cmd, &f.clock.Move, "movetime", 1000, 1, "milliseconds for each move")
	cli.MsFlag(cmd, &f.clock.Margin, "margin", 50, 0, "milliseconds that a move may be late")
	cli.MsFlag(cmd, &f.clock.Startup, "startup", 10_000, 1, "milliseconds from the start of the bot to its ready")
	flags.BoolVar(&f.quick, "quick", false, "fewer games: each option once, without all pairs of options")
	flags.DurationVar(&f.time, "time", checkDefaults.Time, "start no more games after this time")
	f.sandbox.add(cmd)
	flags.BoolVar(&f.outside, "outside", false, "if the bot fails in the sandbox, also run it outside, with all your rights")
	flags.StringVar(&f.out, "out", "", "save the replays and lines in this `DIR`")
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
	var out *checkDir
	if f.out != "" {
		if out, err = newCheckDir(f.out); err != nil {
			return err
		}
		defer out.Close()
		o.OnGame, o.OnOutput, o.OnCheck = out.storeGame, out.storeOutput, out.addCommands
	}
	if !f.json {
		fmt.Fprintf(w, "%s: %s\n%s, seed %s\n\n", p.Name, strings.Join(p.Command, " "), o.Clock, f.seed)
		bar := cli.NewProgress(cmd.ErrOrStderr(), "games") // on a terminal
		o.OnProgress = bar.Set
		o.OnCheck = func(c check.Check) {
			out.addCommands(c)
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
	if err := out.storeReport(result); err != nil {
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

// checkDir is the directory in which the check of a bot is stored. addCommands and storeReport do nothing on a nil
// *checkDir.
type checkDir struct {
	*tournament.Dir
	err error // the first error of storing
}

func newCheckDir(path string) (*checkDir, error) {
	d, err := tournament.ClaimDir(path)
	if err == nil {
		err = os.MkdirAll(filepath.Join(path, "lines"), 0o755)
	}
	return &checkDir{Dir: d}, err
}

func (d *checkDir) linesOf(process int) string {
	return filepath.Join(d.Path, "lines", fmt.Sprintf("process-%03d.txt", process))
}

func (d *checkDir) storeGame(g *referee.GameResult) {
	d.err = cmp.Or(d.err, d.StoreGame(&tournament.Match{}, g))
}

func (d *checkDir) storeOutput(process int, mark byte, text []byte) {
	f, err := os.OpenFile(d.linesOf(process), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	for line := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if err == nil {
			_, err = fmt.Fprintf(f, "%c %s\n", mark, line)
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		d.err = cmp.Or(d.err, fmt.Errorf("out: %w", err))
	}
}

// addCommands adds to c.Failure the commands that show the failure again. It does nothing if c.Failure is nil.
func (d *checkDir) addCommands(c check.Check) {
	f := c.Failure
	if d == nil || f == nil {
		return
	}
	f.Commands = []string{"sed -n 's/^< //p' " + text.Quote(d.linesOf(f.Process)) + " | YOUR BOT"}
	if replay := d.ReplayPath(0, f.Game, 0); f.Game > 0 {
		f.Commands = append(f.Commands, cli.CommandLine("replay", "show", replay))
	}
}

func (d *checkDir) storeReport(r *check.Report) error {
	if d == nil {
		return nil
	}
	var data bytes.Buffer
	if err := cmp.Or(d.err, cli.WriteJSON(&data, r)); err != nil {
		return err
	}
	return d.StoreResult(data.Bytes())
}
