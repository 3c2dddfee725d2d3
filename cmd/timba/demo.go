package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/starters"
)

func newDemo() *cobra.Command {
	f := matchFlags{deals: 2, affinity: "auto", hold: holdFlags{mode: "auto", memory: "512m", ponder: "on"}}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Play a short round-robin between bots in several languages",
		Long: "Plays the starters in Python, C, Bash and Perl and two house bots against each other at\n" +
			"every game, prints the tables and leaves a folder of replays, with the starters in it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.demo(cmd) },
	}
	f.addClock(cmd)
	cmd.Flags().IntVar(&f.deals, "deals", f.deals, "deals of each match")
	cmd.Flags().StringVar(&f.seed, "seed", "", "seed: 64 hexadecimal digits or a number (default: a new one)")
	cmd.Flags().StringVar(&f.out, "out", "", "keep the replays in this `folder` (default: replays/ and the seed's first digits)")
	return cmd
}

// demoLanguages are those that nearly every machine can run.
var demoLanguages = []string{"python", "c", "bash", "perl"}

// demoBots are two house bots and the starters that this machine can run, which
// are written into a folder.
func demoBots(cmd *cobra.Command, dir string) ([]string, error) {
	bots := []string{"@random", "@greedy"}
	for _, name := range demoLanguages {
		l, err := starters.Find(name)
		if err != nil {
			return nil, err
		}
		if missing := l.Missing(); missing != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "the starter in %s does not play: %s is not installed\n", l.Title, strings.Join(missing, ", "))
			continue
		}
		folder := filepath.Join(dir, l.Name)
		if _, err := l.Write(folder); err != nil {
			return nil, err
		}
		bots = append(bots, folder)
	}
	return bots, nil
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
	bots, err := demoBots(cmd, filepath.Join(root, "bots"))
	if err != nil {
		return err
	}
	bots = absolute(bots)
	held, err := f.hold.choose(cmd, bots)
	if err != nil {
		return err
	}
	programs, err := program.ResolveAllHeld(cmd.Context(), bots, cmd.ErrOrStderr(), f.hold.buildLevel(held))
	if err != nil {
		return err
	}
	faults := false
	for _, g := range games.All() {
		f.seed = referee.Hex(seed.Derive(g.Name())).String()
		f.out = filepath.Join(root, g.Name())
		fmt.Fprintf(w, "\n%s\n", g.Name())
		t, err := f.tournament(g.Name(), programs)
		if err != nil {
			return err
		}
		hold(t, programs, held)
		if err := f.openFolder(t, f.plan(t, bots)); err != nil {
			return err
		}
		c := newContest(t, cmd.ErrOrStderr())
		if err := c.play(cmd.Context()); err != nil {
			return err
		}
		if err := c.print(w); err != nil {
			return err
		}
		doc, err := c.report()
		if err == nil {
			err = c.keep(doc)
		}
		if err != nil {
			return err
		}
		faults = faults || len(c.faults) > 0
	}
	fmt.Fprintf(w, "\nreplays: %s\nlook at one: %s replay show %s\n", root, self(), quoted((&tournament.Folder{Path: filepath.Join(root, "brisca")}).Replay(0, 0, 0)))
	if faults {
		return errFault
	}
	return nil
}
