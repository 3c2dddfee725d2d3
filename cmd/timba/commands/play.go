package commands

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/terminal/person"
)

// playFlags are the flags of a game with a person.
type playFlags struct {
	seat    int
	name    string
	timed   bool
	level   string
	seed    string
	set     []string
	clock   referee.Clock
	sandbox sandboxFlags
	out     string
}

// timedMove is the time limit for each move of the person and of the bots if --timed is set and --movetime is not.
const timedMove = time.Minute

func newPlay() *cobra.Command {
	var f playFlags
	cmd := &cobra.Command{
		Use:   "play GAME [BOT...]",
		Short: "Play against bots in the terminal",
		Long: "You play at a table with bots. You see what your seat may see, drawn as a table or a board.\n" +
			"Name bots as for timba match, or choose a level; the default is " + middleLevel() + ". If there\n" +
			"are too few bots, they take the seats in turn.\n\n" +
			"A number that you type stands for the card, the bid or the square beside which the screen\n" +
			"shows it. Type ? for the rules and all commands, and quit to forfeit the game. A game begins\n" +
			"with the bare deal or board, unless you set opening. You have no time limit, unless you\n" +
			"set --timed.",
		Example: "  timba play brisca\n" +
			"  timba play tute --level expert\n" +
			"  timba play teeko ./mybot --seat 1\n" +
			"  timba play tute @greedy --set players=4 --set teams=yes",
		Args: cobra.MinimumNArgs(1),
		RunE: f.run,
	}
	flags := cmd.Flags()
	cli.NumberFlag(cmd, &f.seat, "seat", 0, 0, math.MaxInt, "your seat")
	flags.StringVar(&f.level, "level", "", "level of the opponents that have no name, 1 to 8 or beginner to champion")
	flags.StringVar(&f.name, "name", "you", "your name in the replay")
	flags.StringVar(&f.seed, "seed", "", "seed: 64 hexadecimal digits or a number (default: a new one)")
	flags.StringArrayVar(&f.set, "set", nil, "option of the game, as `name=value`; may be repeated")
	cli.MsFlag(cmd, &f.clock.Move, "movetime", 1000, 1, "milliseconds that a bot has for each move; with --timed 60000, if not set")
	cli.MsFlag(cmd, &f.clock.Margin, "margin", 50, 0, "milliseconds that a move may be late")
	cli.MsFlag(cmd, &f.clock.Startup, "startup", 10_000, 1, "milliseconds from the start of a bot to its ready")
	f.sandbox.add(cmd)
	flags.BoolVar(&f.timed, "timed", false, "the clock runs for you, too, and counts down beside the prompt")
	flags.StringVar(&f.out, "out", "", "save the replay in this `FILE` (default: in your cache directory)")
	return cmd
}

func (f *playFlags) run(cmd *cobra.Command, args []string) error {
	if f.timed && !cmd.Flags().Changed("movetime") {
		f.clock.Move = timedMove
	}
	bots, err := f.opponents(args[1:])
	if err != nil {
		return err
	}
	v, err := f.resolve(args[0], len(bots)+1)
	if err != nil {
		return err
	}
	if len(args) == 1 && !house.Plays(strings.TrimPrefix(bots[0].Bot, "@"), v.Game.Name) {
		if f.level != "" {
			return fmt.Errorf("level: %s has no levels: name bots, such as @random", v.Game.Name)
		}
		bots[0].Bot = "@random"
	}
	if f.seat >= v.Players {
		return fmt.Errorf("seat %d does not exist: the game has seats 0 to %d", f.seat, v.Players-1)
	}
	if len(bots) > v.Players-1 {
		return fmt.Errorf("play: %d bots and you are too many for %d seats: name fewer bots", len(bots), v.Players)
	}
	seed, err := parseSeed(f.seed)
	if err != nil {
		return err
	}
	out, err := f.path(v)
	if err != nil {
		return err
	}
	seats, err := f.resolveBots(cmd, v, bots)
	if err != nil {
		return err
	}
	m := match.Match{Variant: v, Bots: seats, Deals: 1, Seed: seed, Clock: f.clock}
	if err := m.Check(); err != nil {
		return err
	}
	noticeCredit(cmd.ErrOrStderr())
	return f.play(cmd, m, out)
}

// middleLevel returns the name and the number of the opponent's default level of difficulty, such as "NAME (3)".
func middleLevel() string {
	l := house.Levels()[house.DefaultLevel-1]
	return fmt.Sprintf("%s (%d)", l.Name, l.Number)
}

// opponents returns the bots that the user has named or, if there are none, the house bot (part of timba) with
// the chosen or default level of difficulty.
func (f *playFlags) opponents(named []string) (bots []program.BotSpec, err error) {
	if len(named) == 0 {
		level, err := house.FindLevel(cmp.Or(f.level, strconv.Itoa(house.DefaultLevel)))
		return []program.BotSpec{{Bot: "@" + level.Spec}}, err
	}
	if f.level != "" {
		return nil, fmt.Errorf("level: bots are named, %s first: name bots or choose a level", text.Quote(named[0]))
	}
	for _, arg := range named {
		s, err := program.ParseSpec(arg)
		if err != nil {
			return nil, err
		}
		bots = append(bots, s)
	}
	return bots, nil
}

// resolve returns the variant of the game. players is the number of the bots and the person. If the game
// cannot have that number, resolve returns the variant with the default number of players, or an error if the
// default is lower than players.
func (f *playFlags) resolve(game string, players int) (*rules.Variant, error) {
	v, err := resolveGame(game, f.set, players)
	if err == nil {
		return v, nil
	}
	if fewer, other := resolveGame(game, f.set, 0); other == nil && fewer.Players >= players {
		return fewer, nil
	}
	return nil, err
}

// resolveBots returns a contestant for each seat: the bots and the person, who has no command. If there are more
// seats than bots, some bots play several seats.
func (f *playFlags) resolveBots(cmd *cobra.Command, v *rules.Variant, bots []program.BotSpec) ([]match.Contestant, error) {
	var all []program.BotSpec
	for i := range v.Players - 1 {
		s := bots[i%len(bots)]
		if i >= len(bots) && s.Name != "" {
			s.Name = fmt.Sprintf("%s#%d", s.Name, i/len(bots)+1)
		}
		all = append(all, s)
	}
	sandboxed, err := f.sandbox.choose(cmd, all...)
	if err != nil {
		return nil, err
	}
	programs, err := cli.Resolver(cmd, f.sandbox.buildLevel(sandboxed)).ResolveAll(cmd.Context(), all, true)
	if err != nil {
		return nil, err
	}
	var seats []match.Contestant
	for _, p := range programs {
		if err := p.Check(v); err != nil {
			return nil, err
		}
		p.Clock = p.Overrides.Clock(f.clock)
		seats = append(seats, p.Contestant)
	}
	if err := sandboxBots(seats, programs, sandboxed); err != nil {
		return nil, err
	}
	you := match.Contestant{Name: f.name, Hash: match.PersonHash(), Untimed: !f.timed}
	return slices.Insert(seats, f.seat, you), nil
}

func (f *playFlags) path(v *rules.Variant) (string, error) {
	if f.out != "" {
		if _, err := os.Stat(f.out); err == nil {
			return "", fmt.Errorf("out: %q exists: name a new file", f.out)
		}
		return f.out, cli.CheckFile(f.out)
	}
	cache, err := program.CacheDir("played")
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, fmt.Sprintf("%s-%s-%d.json", time.Now().Format("20060102-150405"), v.Game.Name, os.Getpid())), nil
}

func (f *playFlags) play(cmd *cobra.Command, m match.Match, out string) error {
	w := cmd.OutOrStdout()
	in, err := person.NewPrompter(cmd.InOrStdin(), w)
	if err != nil {
		return err
	}
	defer in.Close()
	p := person.Person{Match: m, Seat: f.seat, Prompter: in, Out: w, Repeats: isDeterministic(m.Bots)}
	game, err := p.Play(cmd.Context())
	switch {
	case errors.Is(err, person.ErrQuit):
		fmt.Fprintln(w, "you left the game, which the others did not finish: no replay is kept")
		return nil
	case cmd.Context().Err() != nil:
		fmt.Fprintln(w, "\nthe game was interrupted: no replay is kept")
		return cli.ErrNoVerdict
	case err != nil:
		return err
	}
	game.Reveal(m.Seed)
	if err := os.WriteFile(out, game.Encode(), 0o644); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	if err := p.Farewell(&game.Replay); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nreplay: %s\nlook at it: %s replay show %s\n", out, cli.Self(), text.Quote(out))
	if slices.ContainsFunc(game.Faults, func(x referee.Fault) bool { return x.Seat != f.seat }) {
		fmt.Fprintf(w, "why: %s explain %s\n", cli.Self(), text.Quote(out))
		return cli.ErrFault
	}
	return nil
}

// isDeterministic reports whether all bots would make the same moves again in a game with the same seed. Only house
// bots, which are part of timba, are known to do so.
func isDeterministic(bots []match.Contestant) bool {
	return !slices.ContainsFunc(bots, func(b match.Contestant) bool {
		return b.Command != nil && !strings.HasPrefix(b.Line, "@")
	})
}
