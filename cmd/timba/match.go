package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
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
	hold                holdFlags
	format              string
	rounds              int
	sprt                string
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
			"A BOT is a house bot (@random, @first, @greedy), a folder with a timba.toml or a\n" +
			"recognised main file (bot.py, bot.c, ...), or a command in quotes. Where there are\n" +
			"fewer bots than seats they take the seats in turn.\n\n" +
			"With --out every game is kept as it ends; --resume goes on after a Ctrl-C or worse.\n\n" +
			"Exit status: 0 good, 1 a bot had a fault or lost its --sprt, 2 wrong usage or a\n" +
			"failure of our own, 3 broken off, or a --sprt without a verdict.",
		Example: "  timba match brisca @greedy @random --deals 50\n" +
			"  timba match tute ./mybot @greedy @greedy @random --set teams=yes --out replays\n" +
			"  timba match teeko \"python3 bot.py\" @greedy --movetime 100 --seed 7\n" +
			"  timba match tebes ./new ./old --deals 10000 --sprt elo0=0,elo1=10\n" +
			"  timba match --resume replays",
		ValidArgsFunction: completeBots,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.deals, "deals", 10, "deals of a match, each played in every rotation")
	flags.StringVar(&f.seed, "seed", "", "seed: 64 hexadecimal digits or a number (default: a new one)")
	flags.StringArrayVar(&f.set, "set", nil, "option of the game, as `name=value`; can be given again")
	f.addClock(cmd)
	flags.IntVar(&f.concurrency, "concurrency", 0, "games at the same time (default: the cores)")
	flags.StringVar(&f.affinity, "affinity", "auto", "bind each game and its bots to one core: `auto|on|off`")
	f.hold.add(cmd)
	flags.StringVar(&f.format, "format", "", "tournament: `round-robin|gauntlet|swiss|knockout`")
	flags.IntVar(&f.rounds, "rounds", 0, "rounds of a Swiss tournament (default: as many as it takes)")
	flags.StringVar(&f.sprt, "sprt", "", "stop when it is clear whether the first bot is stronger, as `elo0=0,elo1=10,alpha=0.05,beta=0.05`")
	flags.StringVar(&f.out, "out", "", "keep the replays and logs in this `folder`")
	flags.StringVar(&f.resume, "resume", "", "go on with the match of this `folder`")
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

func (f *matchFlags) run(cmd *cobra.Command, args []string) error {
	if f.json && f.log {
		return fmt.Errorf("--json and --log both write to stdout: choose one")
	}
	var old *tournament.Plan
	if f.resume != "" {
		if f.out != "" && f.out != f.resume {
			return fmt.Errorf("--out is %q and --resume is %q: give only --resume", f.out, f.resume)
		}
		plan, err := (&tournament.Folder{Path: f.resume}).ReadPlan()
		if err != nil {
			return err
		}
		old, args = &plan, f.takeUp(cmd, plan, args)
	}
	if len(args) < 2 {
		return fmt.Errorf("match: name a game and its bots, as in: timba match brisca @greedy @random")
	}
	bots := absolute(args[1:])
	held, err := f.hold.choose(cmd, bots)
	if err != nil {
		return err
	}
	programs, err := program.ResolveAllHeld(cmd.Context(), bots, cmd.ErrOrStderr(), f.hold.buildLevel(held))
	if err != nil {
		return err
	}
	t, err := f.tournament(args[0], programs)
	if err != nil {
		return err
	}
	hold(t, programs, held)
	plan := f.plan(t, bots)
	if old != nil {
		if err := old.Differs(plan); err != nil {
			return err
		}
	}
	if err := f.openFolder(t, plan); err != nil {
		return err
	}
	return f.play(cmd, t)
}

// absolute makes the folders among the bots independent of where timba runs.
func absolute(bots []string) []string {
	bots = slices.Clone(bots)
	for i, b := range bots {
		if info, err := os.Stat(b); err == nil && info.IsDir() {
			if path, err := filepath.Abs(b); err == nil {
				bots[i] = path
			}
		}
	}
	return bots
}

// takeUp fills in what the command line leaves out from the plan of the folder
// that it goes on with.
func (f *matchFlags) takeUp(cmd *cobra.Command, p tournament.Plan, args []string) []string {
	flags := cmd.Flags()
	missing := func(names ...string) bool {
		return !slices.ContainsFunc(names, flags.Changed)
	}
	if len(args) == 0 {
		args = []string{p.Game}
	}
	if len(args) == 1 {
		for _, b := range p.Bots {
			args = append(args, b.Bot)
		}
	}
	if missing("set") && args[0] == p.Game {
		for name, value := range p.Options {
			f.set = append(f.set, name+"="+value)
		}
	}
	if missing("deals") {
		f.deals = p.Deals
	}
	if missing("seed") {
		f.seed = p.Seed.String()
	}
	if missing("format") && p.Format != tournament.Single {
		f.format = string(p.Format)
	}
	if missing("rounds") {
		f.rounds = p.Rounds
	}
	if missing("sprt") {
		f.sprt = p.SPRT
	}
	if missing("movetime", "bank", "inc") {
		f.movetime, f.bank, f.inc = int(p.Clock.Movetime), int(p.Clock.Bank), int(p.Clock.Inc)
	}
	if missing("margin") {
		f.margin = int(p.Clock.Margin)
	}
	if missing("startup") {
		f.startup = int(p.Clock.Startup)
	}
	return args
}

func (f *matchFlags) clock() referee.Clock {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	c := referee.Clock{Move: ms(f.movetime), Bank: ms(f.bank), Inc: ms(f.inc), Margin: ms(f.margin), Startup: ms(f.startup)}
	if c.Move == 0 && c.Bank == 0 {
		c.Move = referee.DefaultClock.Move
	}
	return c
}

// tournament settles everything that a match or a tournament needs.
func (f *matchFlags) tournament(game string, programs []program.Program) (*tournament.Tournament, error) {
	v, format, err := f.settle(game, len(programs))
	if err != nil {
		return nil, err
	}
	t := &tournament.Tournament{Variant: v, Format: format, Rounds: f.rounds, Deals: f.deals, Clock: f.clock()}
	if f.deals < 1 {
		return nil, fmt.Errorf("match: deals cannot be %d: try 1 or more", f.deals)
	}
	if f.rounds != 0 && format != tournament.Swiss {
		return nil, fmt.Errorf("match: --rounds goes with --format swiss")
	}
	for _, p := range programs {
		if !p.Plays(game) {
			return nil, fmt.Errorf("bot %s does not play %s: its manifest claims %v", p.Name, game, p.Games)
		}
		t.Bots = append(t.Bots, p.Bot)
	}
	if f.seed == "" {
		t.Seed = referee.NewSeed()
	} else if t.Seed, err = referee.ParseSeed(f.seed); err != nil {
		return nil, err
	}
	if f.sprt != "" {
		test, err := rating.ParseSPRT(f.sprt)
		if err != nil {
			return nil, err
		}
		t.SPRT = &test
	}
	if t.Lanes, err = f.lanes(); err != nil {
		return nil, err
	}
	if err := t.Clock.Check(); err != nil {
		return nil, err
	}
	return t, t.Check()
}

// settle settles the game's options and the format, which follow from each other
// and the number of bots: bots that fit around one table play one match, and
// more make a round-robin.
func (f *matchFlags) settle(game string, bots int) (rules.Variant, tournament.Format, error) {
	if f.format != "" {
		v, err := settle(game, f.set, 0)
		return v, tournament.Format(f.format), err
	}
	v, err := settle(game, f.set, bots)
	if err != nil { // so many cannot sit at one table
		v, err = settle(game, f.set, 0)
	}
	if err == nil && bots > v.Players() {
		return v, tournament.RoundRobin, nil
	}
	return v, tournament.Single, err
}

func (f *matchFlags) plan(t *tournament.Tournament, bots []string) tournament.Plan {
	c := t.Clock
	p := tournament.Plan{
		Game:    t.Variant.Game().Name(),
		Options: map[string]string{},
		Format:  t.Format,
		Rounds:  t.Rounds,
		Deals:   t.Deals,
		Seed:    referee.Hex(t.Seed),
		Clock: tournament.PlanClock{
			Movetime: c.Move.Milliseconds(), Bank: c.Bank.Milliseconds(), Inc: c.Inc.Milliseconds(),
			Margin: c.Margin.Milliseconds(), Startup: c.Startup.Milliseconds(),
		},
	}
	if t.SPRT != nil {
		p.SPRT = t.SPRT.String()
	}
	for _, s := range t.Variant.Settings() {
		p.Options[s.Name] = s.Value
	}
	for i, b := range t.Bots {
		p.Bots = append(p.Bots, tournament.PlanBot{Bot: bots[i], Name: b.Name, SHA256: b.Hash})
	}
	return p
}

// openFolder gives the tournament the folder that the user asked for, else one
// among the user's cache for games with faults.
func (f *matchFlags) openFolder(t *tournament.Tournament, plan tournament.Plan) error {
	switch {
	case f.resume != "":
		t.Folder = &tournament.Folder{Path: f.resume}
		return nil
	case f.out != "":
		t.Folder = &tournament.Folder{Path: f.out}
	default:
		cache, err := program.CacheDir("faults")
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s-%d", time.Now().Format("20060102-150405"), os.Getpid())
		t.Folder = &tournament.Folder{Path: filepath.Join(cache, name), FaultsOnly: true}
		return nil
	}
	return t.Folder.Begin(plan)
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

// play plays a tournament and reports it.
func (f *matchFlags) play(cmd *cobra.Command, t *tournament.Tournament) error {
	w := cmd.OutOrStdout()
	if !f.json {
		describeTournament(w, t)
	}
	r := newContest(t, cmd.ErrOrStderr())
	if f.log {
		t.Trace = logTraffic(w, t)
	}
	broken := r.play(cmd.Context())
	if broken != nil && !referee.IsCancelled(broken) {
		return broken
	}
	doc, err := r.report()
	if err != nil {
		return err
	}
	if f.json {
		err = writeJSON(w, doc)
	} else {
		err = r.print(w)
	}
	if err == nil && broken == nil {
		err = r.keep(doc)
	}
	if err != nil {
		return err
	}
	return r.verdict(broken, cmd.ErrOrStderr())
}

// verdict is the end of the command: its exit status.
func (r *contest) verdict(broken error, w io.Writer) error {
	t := r.tournament
	if broken != nil {
		fmt.Fprintf(w, "broken off after %s\n", count(r.played, "game"))
		if t.Folder.FaultsOnly {
			fmt.Fprintf(w, "with --out FOLDER it could go on from there\n")
		} else {
			fmt.Fprintf(w, "go on: %s match --resume %s\n", self(), quoted(t.Folder.Path))
		}
		return errNoVerdict
	}
	if t.SPRT != nil {
		p := t.Matches()[0].Progress
		switch {
		case p == nil || p.Verdict == rating.Continue:
			return errNoVerdict
		case p.Verdict == rating.AcceptH0:
			return errFault
		}
	}
	if len(r.faults) > 0 {
		return errFault
	}
	return nil
}

func describeTournament(w io.Writer, t *tournament.Tournament) {
	fmt.Fprintf(w, "%s %s\n", t.Variant.Game().Name(), t.Variant.Settings())
	for i, b := range t.Bots {
		fmt.Fprintf(w, "bot %d: %s\n", i, b.Name)
	}
	if len(t.Bots) == 1 {
		fmt.Fprintln(w, "it plays against itself, at every seat")
	}
	if t.Format != tournament.Single {
		fmt.Fprintf(w, "%s, ", t.Format)
	}
	fmt.Fprintf(w, "%s a match, in all rotations, %s\nseed %s\n\n", count(t.Deals, "deal"), clockText(t.Clock), referee.Hex(t.Seed))
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
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
