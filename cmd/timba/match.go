package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/ladder/tournament/report"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
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
	affinity            string
	sandbox             sandboxFlags
	format              string
	rounds              int
	score               scoreFlags
	sprt                string
	draw, resign        string
	out, resume         string
	json, log           bool
}

func newMatch() *cobra.Command {
	var f matchFlags
	cmd := &cobra.Command{
		Use:   "match GAME BOT BOT...",
		Short: "Play a match or a tournament between bots",
		Long: "Plays a match: each deal once for every rotation of the bots over the seats, so that\n" +
			"the luck of the deal cancels. More bots than seats, or --format, make a tournament.\n\n" +
			"A BOT is a house bot (@random, @first, @greedy), a directory with a timba.toml or a\n" +
			"recognised main file (bot.py, bot.c, ...), or a command in quotes. If there are fewer\n" +
			"bots than seats, they take the seats in turn. A bot with its own name, arguments, clock,\n" +
			"memory or processes is written as 'cmd=BOT name=... movetime=...'.\n\n" +
			"While it plays, the score is shown on stderr, and with --verbose each game; the result goes\n" +
			"to stdout.\n\n" +
			"With --out every game is saved when it ends. --resume resumes after Ctrl-C, a failure or a\n" +
			"crash; a match that ends early prints that command. All is then as at the start, but for\n" +
			"what is shown and --concurrency. With more --deals it extends the match.\n\n" +
			"Exit status: 0 good, 1 a bot had a fault or lost its --sprt, 2 wrong usage or an error\n" +
			"of timba, 3 interrupted, or a --sprt without a verdict.",
		Example: "  timba match brisca @greedy @random --deals 50\n" +
			"  timba match tute ./mybot @greedy @greedy @random --set teams=yes --out replays\n" +
			"  timba match teeko \"python3 bot.py\" @greedy --movetime 100 --seed 7\n" +
			"  timba match teeko 'name=new cmd=\"./bot -c 2\" movetime=50' ./old\n" +
			"  timba match tebes ./new ./old --deals 10000 --sprt elo0=0,elo1=10\n" +
			"  timba match --resume replays\n" +
			"  timba match --resume replays --deals 5000",
		Args:              cobra.ArbitraryArgs, // run checks them: --resume needs none
		ValidArgsFunction: completeBots,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args)
		},
	}
	flags := cmd.Flags()
	numberFlag(cmd, &f.deals, "deals", 10, 1, 1_000_000_000, "deals of a match, each played in every rotation")
	flags.StringVar(&f.seed, "seed", "", "seed: 64 hexadecimal digits or a number (default: a new one)")
	flags.StringArrayVar(&f.set, "set", nil, "option of the game, as `name=value`; may be repeated")
	f.addClock(cmd)
	numberFlag(cmd, &f.concurrency, "concurrency", 0, 1, 1024, "games at the same time (default: one for each core)")
	flags.StringVar(&f.affinity, "affinity", "auto", "bind each game and its bots to one core: `auto|on|off`")
	f.sandbox.add(cmd)
	f.score.add(cmd)
	flags.StringVar(&f.format, "format", "", "tournament: `round-robin|gauntlet|swiss|knockout`")
	countFlag(cmd, &f.rounds, "rounds", 0, "rounds of a Swiss tournament (default: as many as are needed)")
	flags.StringVar(&f.sprt, "sprt", "", "stop when it is clear whether the first bot is stronger, as `elo0=0,elo1=10,alpha=0.05,beta=0.05`")
	flags.StringVar(&f.draw, "draw", "", "end a game as drawn when the scores of all bots agree, as `plies=8,score=10,from=40`")
	flags.StringVar(&f.resign, "resign", "", "end a game as lost when the scores of all bots agree, as `plies=3,score=600`")
	flags.StringVar(&f.out, "out", "", "save the replays and logs in this `DIR`")
	flags.StringVar(&f.resume, "resume", "", "resume the match of this `DIR`")
	flags.BoolVar(&f.json, "json", false, "write the result as JSON")
	flags.BoolVar(&f.log, "log", false, "show both sides of every pipe, with times")
	return cmd
}

func (f *matchFlags) addClock(cmd *cobra.Command) {
	msFlag(cmd, &f.movetime, "movetime", 0, 1, "milliseconds for each move (default 1000)")
	msFlag(cmd, &f.bank, "bank", 0, 1, "milliseconds for a whole game, instead of movetime")
	msFlag(cmd, &f.inc, "inc", 0, 0, "milliseconds added to the bank after each move")
	msFlag(cmd, &f.margin, "margin", 50, 0, "milliseconds that a move may be late")
	msFlag(cmd, &f.startup, "startup", 10_000, 1, "milliseconds from the start of a bot to its ready")
}

func (f *matchFlags) run(cmd *cobra.Command, args []string) error {
	if f.json && f.log {
		return fmt.Errorf("--json and --log both write to stdout: choose one")
	}
	if err := f.score.parse(); err != nil {
		return err
	}
	var plan tournament.Plan
	var err error
	if f.resume != "" {
		plan, err = f.oldPlan(cmd, args)
	} else {
		plan, err = f.newPlan(args)
	}
	if err != nil {
		return err
	}
	specs := plan.Specs()
	bots := make([]string, len(specs))
	for i, s := range specs {
		bots[i] = s.Bot
	}
	sandboxed, err := f.sandbox.choose(cmd, bots)
	if err != nil {
		return err
	}
	if was, is := plan.Sandbox.Level, f.sandbox.Level; f.resume != "" && was != is {
		return fmt.Errorf("resume: the sandbox had level %s and has now %s: resume where it has the same level, or start a new tournament", was, is)
	}
	plan.Sandbox = f.sandbox.Sandbox
	programs, err := resolver(cmd, f.sandbox.buildLevel(sandboxed)).ResolveSpecs(cmd.Context(), specs)
	if err != nil {
		return err
	}
	t, err := plan.Tournament(programs)
	if err != nil {
		return err
	}
	if t.Workers, err = tournament.Workers(f.concurrency, f.affinity); err != nil {
		return err
	}
	if err := sandboxBots(t, programs, sandboxed); err != nil {
		return err
	}
	noticeCores(cmd.ErrOrStderr(), f.concurrency)
	noticeCredit(cmd.ErrOrStderr())
	noticeMemory(cmd.ErrOrStderr(), t, sandbox.MachineMemory())
	if err := f.openDir(cmd, t, plan); err != nil {
		return err
	}
	return f.play(cmd, t)
}

func (f *matchFlags) clock() referee.Clock {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	c := referee.Clock{Move: ms(f.movetime), Bank: ms(f.bank), Inc: ms(f.inc), Margin: ms(f.margin), Startup: ms(f.startup)}
	if c.Move == 0 && c.Bank == 0 {
		c.Move = referee.DefaultClock.Move
	}
	return c
}

// resolve returns the game's variant and the format. Without --format, bots that fit at one
// table play a single match, and more bots play a round-robin.
func (f *matchFlags) resolve(game string, bots int) (*rules.Variant, tournament.Format, error) {
	if f.format != "" {
		v, err := resolveGame(game, f.set, 0)
		return v, tournament.Format(f.format), err
	}
	v, err := resolveGame(game, f.set, bots)
	if err != nil { // too many for one table
		v, err = resolveGame(game, f.set, 0)
	}
	if err == nil && bots > v.Players {
		return v, tournament.RoundRobin, nil
	}
	return v, tournament.Single, err
}

// openDir sets the directory of the tournament: the one that the user named, else one in
// the user's cache for games with faults.
func (f *matchFlags) openDir(cmd *cobra.Command, t *tournament.Tournament, plan tournament.Plan) error {
	switch {
	case f.resume != "":
		t.Dir = &tournament.Dir{Path: f.resume}
		if cmd.Flags().Changed("deals") {
			return t.Dir.Replace(plan)
		}
		return nil
	case f.out != "":
		t.Dir = &tournament.Dir{Path: f.out}
	default:
		cache, err := program.CacheDir("faults")
		if err != nil {
			return err
		}
		program.Prune(cache)
		name := fmt.Sprintf("%s-%d", time.Now().Format("20060102-150405"), os.Getpid())
		t.Dir = &tournament.Dir{Path: filepath.Join(cache, name), FaultsOnly: true}
		return nil
	}
	return t.Dir.Begin(plan)
}

// play plays a tournament and prints its report, also where it ends early.
func (f *matchFlags) play(cmd *cobra.Command, t *tournament.Tournament) error {
	w, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	r := &report.Run{Tournament: t, Self: self()}
	if !f.json {
		r.WriteHead(w)
	}
	if f.log {
		r.TraceTo(w)
	}
	board := f.score.board(r, errs, f.log)
	ended := r.Play(cmd.Context(), board.game, board.say)
	board.live.Clear()
	var early *tournament.Early
	if errors.As(ended, &early) {
		f.noteEarly(cmd, r, early.Why)
	} else if ended != nil {
		return ended
	}
	kept, err := f.write(w, r)
	if err == nil && early == nil && !t.Dir.FaultsOnly {
		err = t.Dir.Result(kept)
	}
	if early != nil || err != nil {
		return f.ended(cmd, r, err)
	}
	return f.verdict(r)
}

// write writes the result to stdout, and returns it as the directory keeps it.
func (f *matchFlags) write(w io.Writer, r *report.Run) ([]byte, error) {
	var data, out bytes.Buffer
	if err := writeJSON(&data, r.Document()); err != nil {
		return nil, err
	}
	if f.json {
		out = data
	} else {
		r.WriteTables(&out)
	}
	_, err := w.Write(out.Bytes())
	return data.Bytes(), err
}

// verdict returns the error for the exit status of a match that was played to its end.
func (f *matchFlags) verdict(r *report.Run) error {
	if r.SPRT != nil {
		p := r.Matches()[0].Progress
		switch {
		case p == nil || p.Verdict == rating.Continue:
			return errNoVerdict
		case p.Verdict == rating.AcceptH0:
			return errFault
		}
	}
	if len(r.Faults) > 0 {
		return errFault
	}
	return nil
}
