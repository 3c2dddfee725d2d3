package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/stats"
	"github.com/timba-arena/timba/terminal/screen"
	"github.com/timba-arena/timba/tournament"
	"github.com/timba-arena/timba/tournament/report"
)

// matchFlags are the flags of a match as the user writes them.
type matchFlags struct {
	start       startFlags
	set         []string
	clock       referee.Clock
	concurrency int
	affinity    string
	sandbox     sandboxFlags
	format      string
	rounds      int
	end         endFlags
	output      outputFlags
	out, resume string
}

func newMatch() *cobra.Command {
	var f matchFlags
	cmd := &cobra.Command{
		Use:   "match GAME BOT BOT...",
		Short: "Play a match or a tournament between bots",
		Long: "Plays a match: each deal once for every rotation of the bots over the seats, so that\n" +
			"the luck of the deal cancels. More bots than seats, or --format, make a tournament.\n\n" +
			"A BOT is a house bot (@random, @first, @greedy), a directory with a timba.toml or a\n" +
			"recognised main file (bot.py, bot.c, ...), such a file alone, or a command in quotes. If\n" +
			"there are fewer bots than seats, they take the seats in turn. A bot with its own name,\n" +
			"arguments, clock, memory or processes is written as 'cmd=BOT name=... movetime=...'.\n\n" +
			"During the match the score is shown on stderr, and with --verbose each game. The result goes\n" +
			"to stdout.\n\n" +
			"--sprt ends the match of two bots when it is clear whether the first is stronger. In a gauntlet each\n" +
			"opponent has a test of its own, which ends only the match with this opponent.\n\n" +
			"--deal plays one deal of an earlier match again. --openings begins games from the positions of a\n" +
			"file: lines of text, as timba replay export --format text writes them, or one replay.\n\n" +
			"With --out every game is saved when it ends, and --report writes a page about the match that can\n" +
			"be sent to others; timba report writes it later. --resume DIR resumes the match after Ctrl-C, a failure\n" +
			"or a crash; a match that ends early prints this command. The settings of the first start\n" +
			"apply, except --concurrency, --affinity and what is shown. With more --deals it extends the match.\n\n" +
			cli.StatusHelp(),
		Example: "  timba match brisca @greedy @random --deals 50\n" +
			"  timba match brisca @greedy @random @first --out results --report results.html\n" +
			"  timba match tute ./mybot @greedy @greedy @random --set teams=yes --out replays\n" +
			"  timba match teeko \"python3 bot.py\" @greedy --movetime 100 --seed 7\n" +
			"  timba match teeko 'name=new cmd=\"./bot -c 2\" movetime=50' ./old\n" +
			"  timba match tebes ./new ./old --deals 10000 --sprt elo0=0,elo1=10\n" +
			"  timba match tebes ./new ./old @greedy --format gauntlet --deals 10000 --sprt elo0=0,elo1=10\n" +
			"  timba match brisca ./new ./old --seed 7 --deal 3 --rotation 1\n" +
			"  timba match tute ./new ./old --openings replays/games/0000-00000-0.json --ply 12\n" +
			"  timba match --resume replays\n" +
			"  timba match --resume replays --deals 5000",
		Args: cobra.ArbitraryArgs, // run checks them: --resume needs none
		RunE: f.run,
	}
	flags := cmd.Flags()
	f.start.add(cmd)
	flags.StringArrayVar(&f.set, "set", nil, "option of the game, as `name=value`; may be repeated")
	cli.MsFlag(cmd, &f.clock.Move, "movetime", 0, 1, "milliseconds for each move (default 1000)")
	cli.MsFlag(cmd, &f.clock.Bank, "bank", 0, 1, "milliseconds for a whole game, instead of movetime")
	cli.MsFlag(cmd, &f.clock.Inc, "inc", 0, 0, "milliseconds added to the bank after each move")
	cli.MsFlag(cmd, &f.clock.Margin, "margin", 50, 0, "milliseconds that a move may be late")
	cli.MsFlag(cmd, &f.clock.Startup, "startup", 10_000, 1, "milliseconds from the start of a bot to its ready")
	cli.NumberFlag(cmd, &f.concurrency, "concurrency", 0, 1, 1024, "games at the same time (default: one for each core)")
	flags.StringVar(&f.affinity, "affinity", "auto", "bind each game and its bots to one core: `auto|on|off`")
	f.sandbox.add(cmd)
	f.output.add(cmd)
	f.end.add(cmd)
	flags.StringVar(&f.format, "format", "", "tournament: `round-robin|gauntlet|swiss|knockout`")
	cli.CountFlag(cmd, &f.rounds, "rounds", 0, "rounds of a Swiss tournament (default: as many as are needed)")
	flags.StringVar(&f.out, "out", "", "save the replays and logs in this `DIR`")
	flags.StringVar(&f.resume, "resume", "", "resume the match of this `DIR`")
	return cmd
}

func (f *matchFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.output.parse(); err != nil {
		return err
	}
	if f.output.report != "" && f.out == "" && f.resume == "" {
		return errors.New("report: it plays back the games that --out stores: add --out DIR")
	}
	var dir *tournament.Dir
	var plan tournament.Config
	var err error
	if f.resume != "" {
		dir, plan, err = f.oldPlan(cmd, args)
	} else {
		plan, err = f.newPlan(cmd, args, cmd.Flags().Changed("deals"))
	}
	defer func() { dir.Close() }()
	if err != nil {
		return err
	}
	specs := plan.Specs()
	sandboxed, err := f.sandbox.choose(cmd, specs...)
	if err != nil {
		return err
	}
	if was, is := plan.Sandbox.Level, f.sandbox.Level; f.resume != "" && was != is {
		return fmt.Errorf("resume: the sandbox had level %s and has now %s: resume where it has the same level, or start a new tournament", was, is)
	}
	plan.Sandbox = f.sandbox.SandboxFlags
	programs, err := cli.Resolver(cmd, f.sandbox.buildLevel(sandboxed)).ResolveAll(cmd.Context(), specs, false)
	if err != nil {
		return elsewhereError(plan, err)
	}
	t, err := tournament.New(plan)
	if err != nil {
		return err
	}
	played, err := t.Enter(programs)
	if err != nil {
		return elsewhereError(plan, err)
	}
	workers, err := tournament.Workers(f.concurrency, f.affinity)
	if err != nil {
		return err
	}
	if err := sandboxBots(played, programs, sandboxed); err != nil {
		return err
	}
	if f.format != "" {
		f.noticeSeats(cmd.ErrOrStderr(), t)
	}
	if notice := tournament.CrowdingNotice(f.concurrency); notice != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "notice: %s\n", notice)
	}
	noticeCredit(cmd.ErrOrStderr())
	noticeMemory(cmd.ErrOrStderr(), t, played, len(workers), sandbox.MachineMemory())
	switch {
	case dir == nil:
		dir, err = f.newDir(t.Config)
	case cmd.Flags().Changed("deals"):
		err = dir.ReplacePlan(t.Config)
	}
	if err != nil {
		return err
	}
	return f.play(cmd, &report.Run{State: t, Programs: played, Dir: dir, Workers: workers, Self: cli.Self()})
}

// resolve returns the variant (a game with its options) and the format of the tournament, given the name of the game
// and the number of bots. Without --format, bots that fit at one table play a single match, and more bots play a
// round-robin.
func (f *matchFlags) resolve(game string, bots int) (*rules.Variant, tournament.Format, error) {
	if f.format != "" {
		v, err := resolveGame(game, f.set, 0)
		return v, tournament.Format(f.format), err
	}
	v, err := resolveGame(game, f.set, bots)
	if err != nil { // too many bots for one table
		v, err = resolveGame(game, f.set, 0)
	}
	if err == nil && bots > v.Players {
		return v, tournament.RoundRobin, nil
	}
	return v, tournament.Single, err
}

// noticeSeats prints a notice if the bots play in several matches although the game allows all of them at one
// table.
func (f *matchFlags) noticeSeats(w io.Writer, t *tournament.State) {
	bots := len(t.Bots)
	if bots == t.Variant.Players || slices.ContainsFunc(f.set, func(word string) bool { return strings.HasPrefix(word, "players=") }) {
		return
	}
	if all, err := resolveGame(t.Game, f.set, bots); err != nil || all.Players != bots {
		return
	}
	fmt.Fprintf(w, "notice: a table has %d seats, as players=%d is the default of %s, and not one for each of the %d bots: --set players=%d would seat them at one table\n",
		t.Variant.Players, t.Variant.Players, t.Game, bots, bots)
}

// newDir returns the directory for a new match: the one that --out names or, without --out, one in the user's cache.
// In the cache, only games in which a bot made a fault are stored.
func (f *matchFlags) newDir(plan tournament.Config) (*tournament.Dir, error) {
	if f.out != "" {
		return tournament.CreateDir(f.out, plan)
	}
	cache, err := program.CacheDir("faults")
	if err != nil {
		return nil, err
	}
	program.Prune(cache)
	name := fmt.Sprintf("%s-%d", time.Now().Format("20060102-150405"), os.Getpid())
	return &tournament.Dir{Path: filepath.Join(cache, name), FaultsOnly: true}, nil
}

// play plays a tournament and prints its report, even if it ends early. Its error sets the exit status.
func (f *matchFlags) play(cmd *cobra.Command, r *report.Run) error {
	w, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	if !f.output.json {
		r.WriteHead(w)
	}
	if f.output.log {
		r.TraceTo(w)
	}
	board := f.output.newScoreboard(r, errs)
	ended := r.Play(cmd.Context(), board.showGame, board.showLine)
	board.live.Clear()
	var early *tournament.EarlyEndError
	if errors.As(ended, &early) {
		f.recordEarlyEnd(cmd, r, early.Cause)
	} else if ended != nil {
		return ended
	}
	kept, err := f.write(w, r)
	if err == nil && early == nil && !r.Dir.FaultsOnly {
		err = r.Dir.StoreResult(kept)
	}
	if err == nil && early == nil && f.output.report != "" {
		err = writeReport(cmd, r.Dir.Path, f.output.report)
	}
	if early != nil || err != nil {
		return f.reportEarlyEnd(cmd, r, err)
	}
	return f.verdict(r)
}

// write writes the result of a match to w, as text or with --json as JSON. It returns the result as JSON.
func (f *matchFlags) write(w io.Writer, r *report.Run) ([]byte, error) {
	var data, out bytes.Buffer
	if err := cli.WriteJSON(&data, r.Document()); err != nil {
		return nil, err
	}
	if f.output.json {
		out = data
	} else {
		r.WriteTables(&out)
	}
	_, err := w.Write(out.Bytes())
	return data.Bytes(), err
}

// verdict returns the error that sets the exit status of a finished match. If the bots were compared by sequential
// tests, the error is nil if all tests accept H1, cli.ErrFault if one accepts H0, and otherwise cli.ErrNoVerdict.
// Without such tests, the error is cli.ErrFault if a bot made a fault.
func (f *matchFlags) verdict(r *report.Run) error {
	if r.SPRT == nil {
		if len(r.Faults) > 0 {
			return cli.ErrFault
		}
		return nil
	}
	switch r.Verdict() {
	case stats.AcceptH1:
		return nil
	case stats.AcceptH0:
		return cli.ErrFault
	}
	return cli.ErrNoVerdict
}

// newPlan returns the configuration of a new match of the game and the bots in args. The argument dealsGiven says
// whether the user has set --deals. In the result, bots have no hashes yet, and only names that the user gave.
func (f *matchFlags) newPlan(cmd *cobra.Command, args []string, dealsGiven bool) (p tournament.Config, err error) {
	if len(args) < 2 {
		return p, errors.New("match: name a game and its bots, as in: timba match brisca @greedy @random")
	}
	p = tournament.Config{Program: referee.Version(), Game: args[0], Rounds: f.rounds, Clock: f.clock}
	p.Directory, _ = os.Getwd() // it only improves an error message
	if p.Clock.Move == 0 && p.Clock.Bank == 0 {
		p.Clock.Move = referee.DefaultClock.Move
	}
	if f.set, err = f.start.plan(cmd, &p, f.set, dealsGiven); err != nil {
		return p, err
	}
	for _, arg := range args[1:] {
		s, err := program.ParseSpec(arg)
		if err != nil {
			return p, err
		}
		if info, err := os.Stat(s.Bot); err == nil && info.IsDir() {
			if path, err := filepath.Abs(s.Bot); err == nil {
				s.Bot = path
			}
		}
		p.Bots = append(p.Bots, tournament.Entrant{BotSpec: s})
	}
	v, format, err := f.resolve(p.Game, len(p.Bots))
	if err == nil {
		v, err = withOpening(v, f.set)
	}
	if err != nil {
		return p, err
	}
	p.Format, p.Options = format, v.Settings.Map()
	if f.rounds != 0 && format != tournament.Swiss {
		return p, errors.New("match: --rounds goes with --format swiss")
	}
	return p, f.end.plan(&p)
}

// endFlags are the flags that can end a game or a match early.
type endFlags struct{ sprt, draw, resign string }

func (f *endFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.sprt, "sprt", "", "stop when it is clear whether the first bot is stronger, as `elo0=0,elo1=10,alpha=0.05,beta=0.05`")
	flags.StringVar(&f.draw, "draw", "", "end a game as drawn when the scores of all bots agree, as `plies=8,score=10,from=40`")
	flags.StringVar(&f.resign, "resign", "", "end a game as lost when the scores of all bots agree, as `plies=3,score=600`")
}

func (f *endFlags) plan(p *tournament.Config) (err error) {
	if f.sprt != "" {
		test, err := stats.ParseSPRT(f.sprt)
		if err != nil {
			return err
		}
		p.SPRT = &test
	}
	if p.Adjudication.Draw, err = scoreRule("--draw", f.draw); err != nil {
		return err
	}
	p.Adjudication.Resign, err = scoreRule("--resign", f.resign)
	return err
}

// scoreRule parses text, the value of a flag with a rule for ending games early by the bots' scores. If text
// is "", it returns nil.
func scoreRule(flag, text string) (*referee.ScoreRule, error) {
	if text == "" {
		return nil, nil
	}
	rule, err := referee.ParseScoreRule(flag, text)
	return &rule, err
}

// shownFlags are the flags that change how a match is played or shown, but none of its results.
var shownFlags = []string{"concurrency", "affinity", "json", "log", "quiet", "verbose", "score-interval", "report"}

// oldPlan opens the directory of the match to resume, f.resume, and returns the directory and the configuration of
// the match. If the flag --deals is set, its value replaces the number of deals, which it can only increase. oldPlan
// returns an error if args is not empty, or if a flag is set that would change the match in another way.
func (f *matchFlags) oldPlan(cmd *cobra.Command, args []string) (*tournament.Dir, tournament.Config, error) {
	var p tournament.Config
	if len(args) > 0 {
		return nil, p, fmt.Errorf("resume: the game and the bots are those of the start, and %q is one too many: give only --resume %s", args[0], f.resume)
	}
	var fixed []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "resume" && flag.Name != "deals" && !slices.Contains(shownFlags, flag.Name) {
			fixed = append(fixed, "--"+flag.Name)
		}
	})
	if fixed != nil {
		return nil, p, fmt.Errorf("resume: %s cannot change: leave it out, as the match goes on as it began, or leave out --resume to begin another one", strings.Join(fixed, ", "))
	}
	dir, p, err := tournament.OpenDir(f.resume)
	if err != nil {
		return nil, p, err
	}
	f.sandbox.SandboxFlags = p.Sandbox
	if cmd.Flags().Changed("deals") {
		err = p.Extend(f.start.deals)
	}
	return dir, p, err
}

// elsewhereError returns err, an error about a bot of the match p. If that match was started in another directory
// than the current one, the result also names that directory.
func elsewhereError(p tournament.Config, err error) error {
	if here, unknown := os.Getwd(); unknown != nil || p.Directory == "" || p.Directory == here || errors.Is(err, tournament.ErrOtherProgram) {
		return err
	}
	return fmt.Errorf("%w (the match was started in %s, where the paths of its bots begin: resume it there)", err, p.Directory)
}

func (f *matchFlags) recordEarlyEnd(cmd *cobra.Command, r *report.Run, why error) {
	kind, said := report.Failed, cli.Message(why)
	if cause := context.Cause(cmd.Context()); cause != nil && errors.Is(why, context.Canceled) {
		kind, said = report.Interrupted, cause.Error() // which signal it was
	}
	r.EndEarly(kind, said, f.resumeLine(cmd, r.Dir))
}

// reportEarlyEnd prints on stderr why a match has ended early and how to resume it. unwritten, if not nil, is the
// reason why the result could not be written, and is printed, too. reportEarlyEnd returns the error that sets the
// exit status.
func (f *matchFlags) reportEarlyEnd(cmd *cobra.Command, r *report.Run, unwritten error) error {
	w, status := cmd.ErrOrStderr(), cli.ErrReported
	games := text.Count(r.Games, "game")
	switch {
	case r.EarlyEnd == nil:
	case r.EarlyEnd.Cause == report.Failed:
		fmt.Fprintf(w, "timba: %s\nended after %s\n", r.EarlyEnd.Text, games)
	default:
		fmt.Fprintf(w, "interrupted after %s\n", games)
		if unwritten == nil {
			status = cli.ErrNoVerdict
		}
	}
	if unwritten != nil {
		fmt.Fprintf(w, "timba: the result is not written: %s\n", cli.Message(unwritten))
	}
	if line := f.resumeLine(cmd, r.Dir); line != "" {
		fmt.Fprintf(w, "resume: %s\n", line)
	} else {
		fmt.Fprintf(w, "not kept: %s: only a match with --out DIR can be resumed\n", games)
	}
	return status
}

// resumeLine returns the shell command that resumes the match stored in dir, with the user's flags that are
// not part of its configuration. If the match cannot be resumed, it returns "".
func (f *matchFlags) resumeLine(cmd *cobra.Command, dir *tournament.Dir) string {
	if dir.FaultsOnly {
		return ""
	}
	words := []string{"match", "--resume", dir.Path}
	for _, name := range shownFlags {
		switch flag := cmd.Flags().Lookup(name); {
		case !flag.Changed || flag.Value.String() == "false":
		case flag.Value.Type() == "bool":
			words = append(words, "--"+name)
		default:
			words = append(words, "--"+name, flag.Value.String())
		}
	}
	return cli.CommandLine(words...)
}

// outputFlags are the flags that select what the command match prints.
type outputFlags struct {
	json, log      bool // on stdout
	interval       string
	quiet, verbose bool
	report         string // the file for the report

	deals int           // interval in deals; 0 means that every applies
	every time.Duration // interval in time
}

func (f *outputFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.interval, "score-interval", "10s", "if stderr is no terminal, show the score after this number of deals or this time: `100|10s`")
	flags.BoolVar(&f.quiet, "quiet", false, "show no running score")
	flags.BoolVar(&f.verbose, "verbose", false, "show each game when it ends, in a line")
	flags.BoolVar(&f.json, "json", false, "write the result as JSON")
	flags.StringVar(&f.report, "report", "", "with --out: write a report for others to this `FILE`, a page (.html) or a table of the games (.csv)")
	flags.BoolVar(&f.log, "log", false, "show all lines between the referee and the bots, with times")
	cmd.MarkFlagsMutuallyExclusive("json", "log") // both write to stdout
}

// These are intervals between two outputs of the score. redraw is the interval on a terminal. On other outputs the
// interval grows from shortest to longest.
const (
	redraw   = 250 * time.Millisecond // on a terminal
	shortest = 100 * time.Millisecond
	longest  = 24 * time.Hour
)

func (f *outputFlags) parse() (err error) {
	if f.report != "" {
		if err := checkReport(f.report); err != nil {
			return err
		}
	}
	if f.deals, err = strconv.Atoi(f.interval); err == nil && f.deals >= 1 {
		return nil
	}
	f.deals = 0
	if f.every, err = time.ParseDuration(f.interval); err == nil && f.every >= shortest && f.every <= longest {
		return nil
	}
	return fmt.Errorf("score-interval cannot be %q: give a number of deals, as 100, or a time from 100ms to 24h, as 10s", f.interval)
}

// scoreboard prints to stderr the running score of a match and its finished games. On a terminal the score changes in
// place; any other output gets a line from time to time.
type scoreboard struct {
	outputFlags
	run  *report.Run
	w    io.Writer
	live *screen.Live // nil if each score is a line of its own
	next time.Time    // time of the next score
	last int          // deals played before the last game
}

// scoreShare limits the time for computing scores to one part in scoreShare of the whole time, because the ratings of
// a large tournament take long.
const scoreShare = 20

// newScoreboard returns a scoreboard that prints the scores of a run to w. With the flag --log each score is a line
// of its own, because a score that changes in place would mix with the lines of the bots.
func (f *outputFlags) newScoreboard(r *report.Run, w io.Writer) *scoreboard {
	b := &scoreboard{outputFlags: *f, run: r, w: w}
	if !f.log && !f.quiet {
		b.live = screen.NewLive(w)
	}
	if b.live != nil {
		b.deals, b.every = 0, redraw
	} else {
		b.next = time.Now().Add(b.every)
	}
	return b
}

// showGame prints a finished game if --verbose is set, and the score if it is time for one.
func (b *scoreboard) showGame(m *tournament.Match, g *referee.GameResult) {
	if b.verbose {
		b.showLine(b.run.GameLine(m, g))
	}
	if b.quiet || !b.isScoreDue() {
		return
	}
	began := time.Now()
	b.showScore()
	b.next = time.Now().Add(max(b.every, scoreShare*time.Since(began)))
}

// isScoreDue reports whether it is time to print a score. It remembers how many deals have been played. On a
// terminal, a score is also due after the first deal.
func (b *scoreboard) isScoreDue() bool {
	n, _ := b.run.PlayedCounts()
	last := b.last
	b.last = n
	switch {
	case b.deals > 0:
		return n != last && n%b.deals == 0
	case b.live != nil && last == 0 && n > 0:
		return true
	}
	return !time.Now().Before(b.next)
}

func (b *scoreboard) showScore() {
	if b.live != nil {
		b.live.Draw(b.run.Score(b.live.Columns()))
		return
	}
	fmt.Fprintln(b.w, b.run.ScoreLine())
}

func (b *scoreboard) showLine(line string) { b.live.WriteAbove(b.w, line) }
