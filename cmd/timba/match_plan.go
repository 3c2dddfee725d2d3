package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
)

// plan returns what a directory keeps of a match: all flags that its results depend on.
func (f *matchFlags) plan(t *tournament.Tournament, specs []program.Spec, sandboxed *referee.Sandbox) tournament.Plan {
	p := t.Plan(specs)
	p.Sandbox = f.sandbox.plan(botsOf(specs), sandboxed)
	return p
}

// fillIn returns the game and the bots, and sets the flags, that the command line leaves out,
// from the plan of the match that it resumes.
func (f *matchFlags) fillIn(cmd *cobra.Command, p tournament.Plan, game string, specs []program.Spec) (string, []program.Spec, error) {
	if game == "" {
		game = p.Game
	}
	if len(specs) == 0 {
		for _, b := range p.Bots {
			specs = append(specs, b.Spec())
		}
	}
	if err := f.checkOlder(cmd, p, botsOf(specs)); err != nil {
		return "", nil, err
	}
	given := map[string]bool{} // flags of the command line
	for _, flag := range p.Flags() {
		given[flag.Name] = cmd.Flags().Changed(flag.Name)
	}
	for _, word := range f.set {
		name, _, _ := strings.Cut(word, "=")
		given["set "+name] = true
	}
	other := map[string][]string{"movetime": {"bank", "inc"}, "bank": {"movetime"}, "inc": {"movetime"}} // clocks that exclude each other
	for _, flag := range p.Flags() {
		switch {
		case flag.Name == "set" && (game != p.Game || given["set "+flag.Option]):
		case flag.Name != "set" && given[flag.Name]:
		case flag.Name == "rounds" && given["format"] && f.format != string(p.Format):
		case slices.ContainsFunc(other[flag.Name], func(name string) bool { return given[name] }):
		default:
			to := cmd.Flags().Lookup(flag.Name)
			if to.DefValue == flag.Text() {
				continue // also where a user may not write the default
			}
			if err := to.Value.Set(flag.Text()); err != nil {
				return "", nil, fmt.Errorf("resume: plan.json: %s: %w", flag, err)
			}
		}
	}
	return game, specs, nil
}

// sandboxNames are the flags that the plans of earlier versions lack.
var sandboxNames = []string{"sandbox", "memory", "processes", "ponder"}

// checkOlder returns an error if the plan lacks flags that the games depend on and the command
// line does not have them. House bots are not sandboxed, so they depend on none.
func (f *matchFlags) checkOlder(cmd *cobra.Command, p tournament.Plan, bots []string) error {
	if p.Sandbox != nil || !strangers(bots) {
		return nil
	}
	var missing, defaults []string
	for _, name := range sandboxNames {
		if flag := cmd.Flags().Lookup(name); !flag.Changed {
			missing = append(missing, "--"+name)
			defaults = append(defaults, "--"+name+" "+flag.DefValue)
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("resume: %s is of an earlier version and does not say %s: give them as at the start; the defaults were %s",
		filepath.Join(f.resume, "plan.json"), strings.Join(missing, ", "), strings.Join(defaults, " "))
}
