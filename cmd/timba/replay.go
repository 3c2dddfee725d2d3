package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/playback"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

func newReplay() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Show, verify, export or feed the replay of a game",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newReplayShow(), newReplayVerify(), newReplayExport(), newReplayFeed())
	return cmd
}

// readReplay returns the replay in a file and its game; "-" is stdin. It fails once the command
// is interrupted, so that those that read many files end.
func readReplay(cmd *cobra.Command, path string) (*referee.Replay, *rules.Game, error) {
	data, err := readInput(cmd, path, math.MaxInt64)
	if err != nil {
		return nil, nil, fmt.Errorf("replay: %w", err)
	}
	r, err := referee.DecodeReplay(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	g, err := games.Find(r.Game)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, g, nil
}

// replayFiles returns the files of replays that arguments name, "-" for stdin.
func replayFiles(args []string) ([]string, error) {
	files, err := playback.Files(args)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return files, nil
}

func newReplayVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE|DIRECTORY...",
		Short: "Rebuild games from their replays and print the differences",
		Long: "Rebuilds each game by the rules from its options, seed and moves, and prints the\n" +
			"differences: illegal moves, a wrong result, an adjudication that does not follow from the\n" +
			"bots' scores, a deal that does not match its commitment.\n" +
			"A directory of timba match or timba replays stands for all its replays.\n\n" +
			"Exit status: 0 no differences, 1 differences, 2 a file cannot be read.",
		Example: "  timba replay verify replays\n  timba replay verify replays/games/0000-00000-*.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := replayFiles(args)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			bad := 0
			for _, path := range files {
				r, g, err := readReplay(cmd, path)
				if err != nil {
					return err
				}
				differences := r.Verify(g)
				if len(differences) == 0 {
					continue
				}
				bad++
				for _, d := range differences {
					fmt.Fprintf(w, "%s: %v\n", path, d)
				}
			}
			fmt.Fprintf(w, "%d of %d replays verified\n", len(files)-bad, len(files))
			if bad > 0 {
				return errFault
			}
			return nil
		},
	}
}
