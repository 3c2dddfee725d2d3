package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox"
)

// matchFlags are the flags of a match, as users write them.
type matchFlags struct {
	deals               int
	seed                string
	set                 []string
	movetime, bank, inc int
	margin, startup     int
	concurrency         int
	affinity, sandbox   string
	out                 string
	json, log           bool
}

func newMatch() *cobra.Command {
	var f matchFlags
	cmd := &cobra.Command{
		Use:   "match GAME BOT BOT...",
		Short: "Play a match between bots",
		Long: "Plays a match: each deal once for every rotation of the bots over the seats, so that\n" +
			"the luck of the deal cancels.\n\n" +
			"A BOT is a house bot (@random, @first, @greedy), a folder with a timba.toml or a\n" +
			"recognised main file (bot.py, bot.c, ...), or a command in quotes. Where there are\n" +
			"fewer bots than seats they take the seats in turn.\n\n" +
			"Exit status: 0 good, 1 a bot had a fault, 2 wrong usage or a failure of our own.",
		Example: "  timba match brisca @greedy @random --deals 50\n" +
			"  timba match tute ./mybot @greedy @greedy @random --set teams=yes --out replays\n" +
			"  timba match teeko \"python3 bot.py\" @greedy --movetime 100 --seed 7",
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: completeGame,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.json && f.log {
				return fmt.Errorf("--json and --log both write to stdout: choose one")
			}
			programs, err := program.ResolveAll(args[1:], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			m, err := f.match(cmd, args[0], programs)
			if err != nil {
				return err
			}
			return f.play(cmd.Context(), cmd, m)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.deals, "deals", 10, "deals, each played in every rotation")
	flags.StringVar(&f.seed, "seed", "", "seed of the match: 64 hexadecimal digits or a number (default: a new one)")
	flags.StringArrayVar(&f.set, "set", nil, "option of the game, as `name=value`; can be given again")
	f.addClock(cmd)
	flags.IntVar(&f.concurrency, "concurrency", 0, "games at the same time (default: the cores)")
	flags.StringVar(&f.affinity, "affinity", "auto", "bind each game and its bots to one core: `auto|on|off`")
	flags.StringVar(&f.sandbox, "sandbox", string(sandbox.Auto), "hold the bots: `auto|on|off`")
	flags.StringVar(&f.out, "out", "", "keep the replays and logs in this `folder`")
	flags.BoolVar(&f.json, "json", false, "write the result as JSON")
	flags.BoolVar(&f.log, "log", false, "show both sides of every pipe, with times")
	return cmd
}

func (f *matchFlags) addClock(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.movetime, "movetime", 0, "milliseconds for each move (default 1000)")
	flags.IntVar(&f.bank, "bank", 0, "milliseconds for a whole game, instead of movetime")
	flags.IntVar(&f.inc, "inc", 0, "milliseconds added to the bank after each move")
	flags.IntVar(&f.margin, "margin", 50, "milliseconds that a move may be late")
	flags.IntVar(&f.startup, "startup", 10_000, "milliseconds from the start of a bot to its ready")
}

func (f *matchFlags) clock() referee.Clock {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	c := referee.Clock{Move: ms(f.movetime), Bank: ms(f.bank), Inc: ms(f.inc), Margin: ms(f.margin), Startup: ms(f.startup)}
	if c.Move == 0 && c.Bank == 0 {
		c.Move = referee.DefaultClock.Move
	}
	return c
}

// match settles everything that a match needs.
func (f *matchFlags) match(cmd *cobra.Command, game string, programs []program.Program) (*referee.Match, error) {
	v, err := settle(game, f.set, len(programs))
	if err != nil {
		return nil, err
	}
	m := &referee.Match{Variant: v, Deals: f.deals, Clock: f.clock()}
	for _, p := range programs {
		if !p.Plays(game) {
			return nil, fmt.Errorf("bot %s does not play %s: its manifest claims %v", p.Name, game, p.Games)
		}
		m.Bots = append(m.Bots, p.Bot)
	}
	if f.seed == "" {
		m.Seed = referee.NewSeed()
	} else if m.Seed, err = referee.ParseSeed(f.seed); err != nil {
		return nil, err
	}
	if m.Lanes, err = f.lanes(); err != nil {
		return nil, err
	}
	_, notice, err := sandbox.Choose(sandbox.Mode(f.sandbox))
	if err != nil {
		return nil, err
	}
	if notice != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), notice)
	}
	return m, m.Check()
}

// lanes are the threads that play, bound to cores while there are enough.
func (f *matchFlags) lanes() ([]int, error) {
	cores := referee.Cores()
	n := f.concurrency
	if n < 0 {
		return nil, fmt.Errorf("concurrency cannot be %d: try 1 or more, or leave it out to use the cores", n)
	}
	if n == 0 {
		n = max(1, len(cores))
	}
	bind := n <= len(cores)
	switch f.affinity {
	case "auto":
	case "on":
		if len(cores) == 0 {
			return nil, fmt.Errorf("affinity cannot be on: this system does not bind processes to cores")
		}
		bind = true
	case "off":
		bind = false
	default:
		return nil, fmt.Errorf("affinity cannot be %q: try auto, on or off", f.affinity)
	}
	lanes := make([]int, n)
	for i := range lanes {
		lanes[i] = referee.AnyCore
		if bind {
			lanes[i] = cores[i%len(cores)]
		}
	}
	return lanes, nil
}

// play plays a match and reports it.
func (f *matchFlags) play(ctx context.Context, cmd *cobra.Command, m *referee.Match) error {
	w, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	if !f.json {
		describeMatch(w, m)
	}
	keep, err := newFolder(f.out, m)
	if err != nil {
		return err
	}
	r := newRun(m, keep, errs)
	if f.log {
		m.Trace = logTraffic(w, m)
	}
	err = r.play(ctx)
	if err != nil && !referee.IsCancelled(err) {
		return err
	}
	if f.json {
		if e := writeJSON(w, r.report()); e != nil {
			return e
		}
	} else {
		r.print(w)
	}
	switch {
	case err != nil:
		return fmt.Errorf("the match was called off after %d of %d games; the same seed plays the same games again", r.tally.Games, r.total())
	case len(r.tally.Faults) > 0:
		return errFault
	}
	return nil
}

func describeMatch(w io.Writer, m *referee.Match) {
	fmt.Fprintf(w, "%s %s\n", m.Variant.Game().Name(), m.Variant.Settings())
	for i, b := range m.Bots {
		fmt.Fprintf(w, "bot %d: %s\n", i, b.Name)
	}
	fmt.Fprintf(w, "%d deals, each in %d rotations, %s\nseed %s\n", m.Deals, m.Rotations(), clockText(m.Clock), referee.Hex(m.Seed))
}

func clockText(c referee.Clock) string {
	if c.Bank == 0 {
		return fmt.Sprintf("%d ms a move", c.Move.Milliseconds())
	}
	return fmt.Sprintf("%d ms a game and %d ms more after each move", c.Bank.Milliseconds(), c.Inc.Milliseconds())
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
