package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timba-arena/timba/referee/program"
)

// botFlags collects --bot. It is a pflag.Value that notes how many arguments stood before each
// flag, so that the bots have the order of the command line.
type botFlags struct {
	flags *pflag.FlagSet
	lines []string
	after []int // by line, the arguments before it
}

func (f *botFlags) add(cmd *cobra.Command) {
	f.flags = cmd.Flags()
	f.flags.Var(f, "bot", "a bot with more than its name, as `'name=new cmd=./bot movetime=50'`; may be repeated")
}

// String returns the values; there is no default.
func (f *botFlags) String() string { return strings.Join(f.lines, " ") }

// Type returns the kind of value, for the help.
func (f *botFlags) Type() string { return "bot" }

// Set takes one value.
func (f *botFlags) Set(line string) error {
	f.lines, f.after = append(f.lines, line), append(f.after, f.flags.NArg())
	return nil
}

// with returns the game, "" if there is none, and the bots of a command line, in its order.
// Those that are directories have absolute paths.
func (f *botFlags) with(args []string) (game string, specs []program.Spec, err error) {
	if len(args) > 0 {
		game, specs = args[0], program.Specs(args[1:])
	}
	for i, line := range slices.Backward(f.lines) {
		s, err := program.ParseSpec(line)
		if err != nil {
			return "", nil, err
		}
		specs = slices.Insert(specs, min(len(specs), max(0, f.after[i]-1)), s)
	}
	for i := range specs {
		if info, err := os.Stat(specs[i].Bot); err == nil && info.IsDir() {
			if path, err := filepath.Abs(specs[i].Bot); err == nil {
				specs[i].Bot = path
			}
		}
	}
	return game, specs, nil
}

// botsOf returns the bots without what they have of their own.
func botsOf(specs []program.Spec) []string {
	bots := make([]string, len(specs))
	for i, s := range specs {
		bots[i] = s.Bot
	}
	return bots
}
