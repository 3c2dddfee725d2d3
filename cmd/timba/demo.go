package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/starters"
)

func newDemo() *cobra.Command {
	f := matchFlags{deals: 2, affinity: "auto", sandbox: "auto"}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Play a short round-robin between bots in several languages",
		Long: "Plays a round-robin between the starters in Python, C and Bash and two house bots\n" +
			"at every game, prints a table and leaves a folder of replays.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.demo(cmd) },
	}
	f.addClock(cmd)
	cmd.Flags().IntVar(&f.deals, "deals", f.deals, "deals of each match")
	cmd.Flags().StringVar(&f.seed, "seed", "", "seed: 64 hexadecimal digits or a number (default: a new one)")
	cmd.Flags().StringVar(&f.out, "out", "", "keep the replays in this `folder` (default: replays/ and the seed's first digits)")
	return cmd
}

// demoLanguages are those that nearly every machine can run, each with the
// program that it needs.
var demoLanguages = []struct{ name, needs string }{{"python", "python3"}, {"c", "cc"}, {"bash", "bash"}, {"perl", "perl"}}

// demoPrograms are two house bots and the starters that this machine can run.
func demoPrograms(cmd *cobra.Command) ([]program.Program, error) {
	bots := []string{"@random", "@greedy"}
	cache, err := program.CacheDir("demo")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(cache, "")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	for _, l := range demoLanguages {
		if _, err := exec.LookPath(l.needs); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "the starter in %s does not play: %s is not installed\n", l.name, l.needs)
			continue
		}
		folder := filepath.Join(dir, l.name)
		if err := starters.Write(l.name, folder); err != nil {
			return nil, err
		}
		bots = append(bots, folder)
	}
	return program.ResolveAll(bots, cmd.ErrOrStderr())
}

// demoMatch plays one pairing without a word of its own.
func (f *matchFlags) demoMatch(cmd *cobra.Command, game string, programs ...program.Program) (*matchRun, error) {
	m, err := f.match(cmd, game, programs)
	if err != nil {
		return nil, err
	}
	keep, err := newFolder(f.out, m)
	if err != nil {
		return nil, err
	}
	r := newRun(m, keep, cmd.ErrOrStderr())
	return r, r.play(cmd.Context())
}

func printTotals(cmd *cobra.Command, totals []referee.Score) {
	slices.SortStableFunc(totals, func(a, b referee.Score) int { return b.Wins - a.Wins })
	t := newTable(cmd.OutOrStdout())
	t.AppendHeader(table.Row{"bot", "games", "wins", "draws", "losses", "faults"})
	for _, s := range totals {
		t.AppendRow(table.Row{s.Name, s.Games, s.Wins, s.Draws, s.Losses, s.Faults})
	}
	t.Render()
}

func (f *matchFlags) demo(cmd *cobra.Command) error {
	seed := referee.NewSeed()
	if f.seed != "" {
		var err error
		if seed, err = referee.ParseSeed(f.seed); err != nil {
			return err
		}
	}
	root := f.out
	if root == "" {
		root = filepath.Join("replays", referee.Hex(seed).String()[:8])
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "seed %s\n", referee.Hex(seed))
	programs, err := demoPrograms(cmd)
	if err != nil {
		return err
	}
	totals := make([]referee.Score, len(programs))
	for i, p := range programs {
		totals[i].Name = p.Name
	}
	faults := false
	for _, g := range games.All() {
		for a := range programs {
			for b := a + 1; b < len(programs); b++ {
				pairing := fmt.Sprintf("%s-%s-%s", g.Name(), programs[a].Name, programs[b].Name)
				f.seed = referee.Hex(seed.Derive(pairing)).String()
				f.out = filepath.Join(root, strings.ReplaceAll(pairing, "@", ""))
				if f.set = nil; hasPlayers(g) && g.Name() == "podrida" {
					f.set = []string{"players=4"} // the two bots take the seats in turn
				}
				run, err := f.demoMatch(cmd, g.Name(), programs[a], programs[b])
				if err != nil {
					return err
				}
				for i, s := range run.tally.Scores {
					t := &totals[[]int{a, b}[i]]
					t.Games += s.Games
					t.Wins += s.Wins
					t.Draws += s.Draws
					t.Losses += s.Losses
					t.Faults += s.Faults
				}
				faults = faults || len(run.tally.Faults) > 0
			}
		}
		fmt.Fprintf(w, "%s: done\n", g.Name())
	}
	printTotals(cmd, totals)
	fmt.Fprintf(w, "\nreplays: %s\nlook at one: timba replay show %s/*/games/00000-0.json\n", root, filepath.Join(root, "brisca-my-python-bot-my-c-bot"))
	if faults {
		return errFault
	}
	return nil
}
