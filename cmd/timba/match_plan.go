package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
)

// newPlan returns the plan of a match that begins. Its bots have no hashes, and only the names
// that the user gave them.
func (f *matchFlags) newPlan(args []string) (p tournament.Plan, err error) {
	if len(args) < 2 {
		return p, errors.New("match: name a game and its bots, as in: timba match brisca @greedy @random")
	}
	p = tournament.Plan{
		Game: args[0], Rounds: f.rounds, Deals: f.deals, Clock: f.clock().Milliseconds(), SPRT: f.sprt, Draw: f.draw, Resign: f.resign,
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
		p.Bots = append(p.Bots, tournament.PlanBot{Bot: s.Bot, Name: s.Name, Own: s.Own})
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
	p.Seed = referee.Hex(referee.NewSeed())
	if f.seed != "" {
		seed, err := referee.ParseSeed(f.seed)
		if err != nil {
			return p, err
		}
		p.Seed = referee.Hex(seed)
	}
	return p, nil
}

// shownFlags are the flags that change how a match is played and shown but none of its results.
var shownFlags = []string{"concurrency", "affinity", "json", "log", "quiet", "verbose", "score-interval"}

// oldPlan returns the plan of the match that goes on, with more deals if the user wants them.
func (f *matchFlags) oldPlan(cmd *cobra.Command, args []string) (p tournament.Plan, err error) {
	if len(args) > 0 {
		return p, fmt.Errorf("resume: the game and the bots are those of the start, and %q is one too many: give only --resume %s", args[0], f.resume)
	}
	var fixed []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "resume" && flag.Name != "deals" && !slices.Contains(shownFlags, flag.Name) {
			fixed = append(fixed, "--"+flag.Name)
		}
	})
	if fixed != nil {
		return p, fmt.Errorf("resume: %s cannot change: leave it out, as the match goes on as it began, or begin another one with --out DIR", strings.Join(fixed, ", "))
	}
	if p, err = (&tournament.Dir{Path: f.resume}).ReadPlan(); err != nil {
		return p, err
	}
	f.sandbox.Sandbox = p.Sandbox
	if cmd.Flags().Changed("deals") {
		err = p.Extend(f.deals)
	}
	return p, err
}
