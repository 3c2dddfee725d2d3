package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
)

func newReplayFeed() *cobra.Command {
	seat := -1
	cmd := &cobra.Command{
		Use:   "feed FILE --seat N",
		Short: "Print what a bot was sent in a game, to debug it offline",
		Long: "Prints the lines that the bot of a seat was sent in a game, byte for byte: greeting, game,\n" +
			"events, views, turns with the time it had, faults, end, bye. A bot whose randomness comes\n" +
			"only from its seed makes the same moves again. No referee is needed: the bot's answers\n" +
			"are ignored.\n\n" +
			"If the bot failed between turns (exit, garbled, output), the replay does not show whether\n" +
			"the referee noticed it before or after it sent the last turn: the feed contains that turn.",
		Example: "  timba replay feed replays/games/0000-00000-0.json --seat 1 | ./bot\n" +
			"  timba replay feed game.json --seat 0 > game.in && gdb --args ./bot  # then: run < game.in",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, g, err := readReplay(cmd, args[0])
			if err != nil {
				return err
			}
			traffic, err := r.Traffic(g, seat)
			if err != nil {
				return err
			}
			if len(traffic) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "seat %d was sent no lines: its bot was not started in this game\n", seat)
			}
			for _, t := range traffic {
				if t.FromBot {
					continue
				}
				if _, err := cmd.OutOrStdout().Write(t.Lines); err != nil {
					return nil // the bot has ended and reads no more
				}
			}
			return nil
		},
	}
	cli.NumberFlag(cmd, &seat, "seat", -1, 0, math.MaxInt, "print the lines of this seat")
	cmd.MarkFlagRequired("seat")
	return cmd
}
