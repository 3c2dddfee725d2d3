package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/draw"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
)

// playFlags are the flags of a game with a person.
type playFlags struct {
	matchFlags
	seat  int
	name  string
	timed bool
}

func newPlay() *cobra.Command {
	var f playFlags
	cmd := &cobra.Command{
		Use:   "play GAME [BOT...]",
		Short: "Play against bots in the terminal",
		Long: "Seats you at a table with bots. They are sent the lines of the protocol, and so are you,\n" +
			"drawn as a table or a board. Bots are named as for timba match; without one @greedy\n" +
			"plays, and where there are fewer than seats they take the seats in turn.\n\n" +
			"Type a move as it is listed, its number, or its beginning. help, hint, why, undo and\n" +
			"quit are understood as well. You have all the time in the world, unless with --timed.",
		Example: "  timba play brisca\n" +
			"  timba play teeko ./mybot --seat 1\n" +
			"  timba play tute @greedy --set players=4 --set teams=yes",
		ValidArgsFunction: completeGame,
		Args:              cobra.MinimumNArgs(1),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.seat, "seat", 0, "your seat")
	flags.StringVar(&f.name, "name", "you", "your name in the replay")
	flags.StringVar(&f.matchFlags.seed, "seed", "", "seed: 64 hexadecimal digits or a number (default: a new one)")
	flags.StringArrayVar(&f.set, "set", nil, "option of the game, as `name=value`; can be given again")
	flags.IntVar(&f.movetime, "movetime", 1000, "milliseconds that a bot has for each move")
	flags.IntVar(&f.margin, "margin", 50, "milliseconds that a move may be late")
	flags.IntVar(&f.startup, "startup", 10_000, "milliseconds from the start of a bot to its ready")
	f.hold.add(cmd)
	flags.BoolVar(&f.timed, "timed", false, "the clock is yours as well")
	flags.StringVar(&f.out, "out", "", "keep the replay in this `file` (default: in your cache)")
	return cmd
}

func (f *playFlags) run(cmd *cobra.Command, args []string) error {
	bots := args[1:]
	if len(bots) == 0 {
		bots = []string{"@greedy"}
	}
	v, err := f.settle(args[0], len(bots)+1)
	if err != nil {
		return err
	}
	if f.seat < 0 || f.seat >= v.Players() {
		return fmt.Errorf("seat %d does not exist: the game has seats 0 to %d", f.seat, v.Players()-1)
	}
	if len(bots) > v.Players()-1 {
		return fmt.Errorf("play: %d bots and you are too many for %d seats", len(bots), v.Players())
	}
	seed := referee.NewSeed()
	if f.matchFlags.seed != "" {
		if seed, err = referee.ParseSeed(f.matchFlags.seed); err != nil {
			return err
		}
	}
	out, err := f.path(v)
	if err != nil {
		return err
	}
	seats, err := f.bots(cmd, v, bots)
	if err != nil {
		return err
	}
	m := referee.Match{Variant: v, Bots: seats, Deals: 1, Seed: seed, Clock: f.clock(), From: make([]int, len(seats))}
	for r := 1; r < len(seats); r++ {
		m.From[r] = 1 // of the rotations only the first is played
	}
	if err := m.Check(); err != nil {
		return err
	}
	return f.sit(cmd, m, out)
}

// settle settles the game's options; the number of players follows from that of
// the bots where the game allows it.
func (f *playFlags) settle(game string, players int) (rules.Variant, error) {
	v, err := settle(game, f.set, players)
	if err == nil {
		return v, nil
	}
	if fewer, other := settle(game, f.set, 0); other == nil && fewer.Players() >= players {
		return fewer, nil
	}
	return nil, err
}

// bots are all seats of the table, the person's without a way to play yet.
func (f *playFlags) bots(cmd *cobra.Command, v rules.Variant, bots []string) ([]referee.Bot, error) {
	var all []string
	for i := range v.Players() - 1 {
		all = append(all, bots[i%len(bots)])
	}
	held, err := f.hold.choose(cmd, all)
	if err != nil {
		return nil, err
	}
	programs, err := program.ResolveAllHeld(cmd.Context(), all, cmd.ErrOrStderr(), f.hold.buildLevel(held))
	if err != nil {
		return nil, err
	}
	var seats []referee.Bot
	for _, p := range programs {
		if !p.Plays(v.Game().Name()) {
			return nil, fmt.Errorf("bot %s does not play %s: its manifest claims %v", p.Name, v.Game().Name(), p.Games)
		}
		if !p.House {
			p.Hold = held
		}
		seats = append(seats, p.Bot)
	}
	hash := sha256.Sum256([]byte("a person"))
	you := referee.Bot{Name: f.name, Hash: hex.EncodeToString(hash[:]), Untimed: !f.timed}
	return slices.Insert(seats, f.seat, you), nil
}

// path is where the replay will be kept.
func (f *playFlags) path(v rules.Variant) (string, error) {
	if f.out != "" {
		if _, err := os.Stat(f.out); err == nil {
			return "", fmt.Errorf("out: %s is there already: name a new file", f.out)
		}
		return f.out, nil
	}
	cache, err := program.CacheDir("played")
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, fmt.Sprintf("%s-%s-%d.json", time.Now().Format("20060102-150405"), v.Game().Name(), os.Getpid())), nil
}

// Why a game was left before its end.
var (
	errUndo = errors.New("a move is taken back")
	errQuit = errors.New("the person has left")
)

// sit plays the game, again up to a move that is taken back, until it ends.
func (f *playFlags) sit(cmd *cobra.Command, m referee.Match, out string) error {
	in, err := newPrompter(cmd.InOrStdin(), cmd.OutOrStdout())
	if err != nil {
		return err
	}
	defer in.close()
	w := cmd.OutOrStdout()
	p := &person{Writer: w, Style: draw.For(w), in: in, variant: m.Variant, seat: f.seat, steady: steady(m.Bots)}
	for _, b := range m.Bots {
		p.names = append(p.names, b.Name)
	}
	p.names[f.seat] = "you"
	p.welcome(m.Seed)
	for {
		game, err := p.game(cmd.Context(), m)
		switch {
		case errors.Is(err, errUndo):
			continue
		case errors.Is(err, errQuit):
			fmt.Fprintln(w, "left before the end: no replay is kept")
			return nil
		case cmd.Context().Err() != nil:
			return errNoVerdict
		case err != nil:
			return err
		}
		game.Reveal(m.Seed)
		if err := os.WriteFile(out, game.Encode(), 0o644); err != nil {
			return fmt.Errorf("out: %w", err)
		}
		if err := p.farewell(&game.Replay); err != nil {
			return err
		}
		fmt.Fprintf(w, "\nreplay: %s\nlook at it: %s replay show %s\n", out, self(), quoted(out))
		if slices.ContainsFunc(game.Faults, func(x referee.Fault) bool { return x.Seat != f.seat }) {
			fmt.Fprintf(w, "why: %s explain %s\n", self(), quoted(out))
			return errFault
		}
		return nil
	}
}

// steady tells whether all bots play the same again: house bots do.
func steady(bots []referee.Bot) bool {
	return !slices.ContainsFunc(bots, func(b referee.Bot) bool {
		return b.Command != nil && !strings.HasPrefix(b.Name, "@")
	})
}

// game plays one game with the person in it. The error of one that was left is
// why.
func (p *person) game(ctx context.Context, m referee.Match) (*referee.Game, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.begin(cancel)
	m.Bots = slices.Clone(m.Bots)
	m.Bots[p.seat].Serve = p.serve
	m.Trace = p.overhear
	var game *referee.Game
	m.Done = func(g *referee.Game) error {
		game = g
		return nil
	}
	err := m.Play(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	return game, err
}
