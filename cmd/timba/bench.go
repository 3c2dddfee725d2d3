package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	samples "github.com/timba-arena/timba/sample-bots"
)

func newBench() *cobra.Command {
	var duration time.Duration
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine",
		Long: "Measures what timba costs on this machine, with the floor measured in the same run\n" +
			"where there is one:\n\n" +
			"  turn      one turn through the referee, with two bots that answer at once, against a\n" +
			"            bare program that exchanges the same bytes with the same bots\n" +
			"  playout   random games through the rules, on one core\n" +
			"  games     whole games between @random processes, on all cores\n" +
			"  restart   games of a C bot against @greedy at Teeko, against a referee that starts\n" +
			"            processes anew for each game",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if duration <= 0 {
				return fmt.Errorf("bench: time cannot be %v: try 1s", duration)
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "%s %s/%s, %d cores\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
			if err := benchTurns(cmd.Context(), w, cmd.ErrOrStderr(), duration); err != nil {
				return err
			}
			benchPlayouts(w, duration)
			if err := benchGames(cmd.Context(), w, cmd.ErrOrStderr(), duration); err != nil {
				return err
			}
			return benchRestart(cmd.Context(), w, cmd.ErrOrStderr(), duration)
		},
	}
	cmd.AddCommand(newBenchDuplicates(), newBenchLadder(), newBenchSandbox())
	cmd.Flags().DurationVar(&duration, "time", time.Second, "about how long each figure is measured")
	return cmd
}

// echoBot builds the C bot that answers at once; where there is no C compiler
// the house bot @first takes its place.
func echoBot(log io.Writer) (program.Program, error) {
	if _, err := exec.LookPath("cc"); err != nil {
		fmt.Fprintln(log, "bench: there is no C compiler (cc): @first plays instead of a C bot")
		return program.Resolve("@first", log)
	}
	cache, err := program.CacheDir("bench")
	if err != nil {
		return program.Program{}, err
	}
	source, bot := filepath.Join(cache, "echo.c"), filepath.Join(cache, "echo")
	if err := os.WriteFile(source, samples.EchoC, 0o644); err != nil {
		return program.Program{}, err
	}
	if out, err := exec.Command("cc", "-O2", "-o", bot, source).CombinedOutput(); err != nil {
		return program.Program{}, fmt.Errorf("bench: building the C bot: %w\n%s", err, out)
	}
	return program.Resolve(bot, log)
}

// benchTurns plays the same games at every game with and without the referee, in
// turn, so that the machine's moods fall on both.
func benchTurns(ctx context.Context, w, log io.Writer, duration time.Duration) error {
	bot, err := echoBot(log)
	if err != nil {
		return err
	}
	t := newTable(w)
	t.AppendHeader(table.Row{"turn", "referee µs", "floor µs", "ratio"})
	for _, g := range games.All() {
		row, err := benchTurn(ctx, g, bot.Bot, duration)
		if err != nil {
			return err
		}
		t.AppendRow(row)
	}
	t.Render()
	fmt.Fprintln(w)
	return nil
}

// turnRounds is how often referee and floor take turns; the medians are shown.
const turnRounds = 7

func benchTurn(ctx context.Context, g rules.Game, bot referee.Bot, duration time.Duration) (table.Row, error) {
	m, err := benchMatch(g, bot)
	if err != nil {
		return nil, err
	}
	// Record the blocks that the referee sends, to exchange the same bytes.
	var script []referee.Traffic
	m.Trace = func(t referee.Traffic) {
		if t.Rotation == 0 && !t.FromBot {
			t.Lines = slices.Clone(t.Lines)
			script = append(script, t)
		}
	}
	_, once, err := playOnce(ctx, m)
	if err != nil {
		return nil, err
	}
	m.Trace = nil
	m.Deals = max(1, int(float64(m.Deals)*duration.Seconds()/turnRounds/2/once.Seconds()))
	var through, floor, ratios []float64
	for range turnRounds {
		n, took, err := playOnce(ctx, m)
		if err != nil {
			return nil, err
		}
		bare, err := referee.Floor(bot, m.Lanes[0], script, m.Deals*2)
		if err != nil {
			return nil, err
		}
		through = append(through, took.Seconds()/float64(n)*1e6)
		floor = append(floor, bare.Seconds()*1e6)
		ratios = append(ratios, through[len(through)-1]/floor[len(floor)-1])
	}
	return table.Row{g.Name(), fmt.Sprintf("%.2f", median(through)), fmt.Sprintf("%.2f", median(floor)), fmt.Sprintf("%.2f", median(ratios))}, nil
}

func benchMatch(g rules.Game, bot referee.Bot) (*referee.Match, error) {
	v, err := rules.Settle(g, nil)
	if err != nil {
		return nil, err
	}
	m := &referee.Match{Variant: v, Deals: 20, Seed: rules.Seed{1}, Clock: referee.DefaultClock, Lanes: []int{referee.AnyCore}}
	if cores := referee.Cores(); len(cores) > 0 {
		m.Lanes[0] = cores[len(cores)-1]
	}
	for i := range v.Players() {
		b := bot
		b.Name = fmt.Sprintf("%s%d", bot.Name, i)
		m.Bots = append(m.Bots, b)
	}
	return m, nil
}

// playOnce plays a match and tells its moves and what they took, from the first
// game's start to the last one's end, processes excluded.
func playOnce(ctx context.Context, m *referee.Match) (moves int, took time.Duration, err error) {
	first := map[int]bool{} // the games that started a rotation's processes do not count
	m.Done = func(g *referee.Game) error {
		if len(g.Faults) > 0 {
			return fmt.Errorf("bench: a bot had a fault: %v", g.Faults[0].Error())
		}
		if !first[g.Match.Rotation] {
			first[g.Match.Rotation] = true
			return nil
		}
		moves += len(g.Moves)
		took += g.Took
		return nil
	}
	err = m.Play(ctx)
	return moves, took, err
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}

// benchPlayouts plays random games through the rules, deals included.
func benchPlayouts(w io.Writer, duration time.Duration) {
	t := newTable(w)
	t.AppendHeader(table.Row{"playout", "games/s", "moves/s"})
	for _, g := range games.All() {
		v, err := rules.Settle(g, nil)
		if err != nil {
			panic(err) // defaults always settle
		}
		r := rules.NewRand(1)
		n, moves := 0, 0
		began := time.Now()
		for time.Since(began) < duration {
			for range 16 {
				stream := rules.FastStream(r)
				s := v.Deal(&stream)
				s.Playout(r)
				n++
				moves += s.Ply()
			}
		}
		s := time.Since(began).Seconds()
		t.AppendRow(table.Row{g.Name(), fmt.Sprintf("%.0f", float64(n)/s), fmt.Sprintf("%.2g million", float64(moves)/s/1e6)})
	}
	t.Render()
	fmt.Fprintln(w)
}

// benchGames plays whole games between real processes.
func benchGames(ctx context.Context, w, log io.Writer, duration time.Duration) error {
	bot, err := program.Resolve("@random", log)
	if err != nil {
		return err
	}
	t := newTable(w)
	t.AppendHeader(table.Row{"games", "games/s", "moves/s"})
	for _, g := range games.All() {
		m, err := benchMatch(g, bot.Bot)
		if err != nil {
			return err
		}
		if cores := referee.Cores(); len(cores) > 0 {
			m.Lanes = cores
		}
		for m.Deals = 20; ; m.Deals *= 4 {
			n, moves := 0, 0
			m.Done = func(g *referee.Game) error { n++; moves += len(g.Moves); return nil }
			began := time.Now()
			if err := m.Play(ctx); err != nil {
				return err
			}
			if took := time.Since(began); took > duration/2 {
				t.AppendRow(table.Row{g.Name(), fmt.Sprintf("%.0f", float64(n)/took.Seconds()), fmt.Sprintf("%.0f", float64(moves)/took.Seconds())})
				break
			}
		}
	}
	t.Render()
	return nil
}

// benchRestart plays the same games twice: with a process a bot and rotation, as
// timba does, and with matches of one deal, so that each game has new processes.
func benchRestart(ctx context.Context, w, log io.Writer, duration time.Duration) error {
	echo, err := echoBot(log)
	if err != nil {
		return err
	}
	greedy, err := program.Resolve("@greedy", log)
	if err != nil {
		return err
	}
	g, err := games.Find("teeko")
	if err != nil {
		return err
	}
	m, err := benchMatch(g, echo.Bot)
	if err != nil {
		return err
	}
	m.Bots[1] = greedy.Bot
	if cores := referee.Cores(); len(cores) > 0 {
		m.Lanes = cores
	}
	m.Deals = max(1, int(1000*duration.Seconds()))
	kept, err := rate(m.Deals*2, func() error { return m.Play(ctx) })
	if err != nil {
		return err
	}
	once := *m
	once.Deals = 1
	n := max(1, m.Deals/10)
	anew, err := rate(n*2, func() error {
		for i := range n {
			once.Seed = m.Seed.Derive(strconv.Itoa(i))
			if err := once.Play(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nrestart: %d games at %.0f a second; with new processes for each game %.0f a second: ratio %.1f\n", m.Deals*2, kept, anew, kept/anew)
	return nil
}

// rate is how many of n things are done in a second.
func rate(n int, do func() error) (float64, error) {
	began := time.Now()
	err := do()
	return float64(n) / time.Since(began).Seconds(), err
}
