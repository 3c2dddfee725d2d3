package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
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

// readReplay reads a replay and finds its game; "-" is stdin.
func readReplay(cmd *cobra.Command, path string) (*referee.Replay, rules.Game, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(cmd.InOrStdin())
	} else {
		data, err = os.ReadFile(path)
	}
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

func newReplayVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE...",
		Short: "Rebuild games from their replays and say what differs",
		Long: "Rebuilds each game by the rules from its options, seed and moves, and says what\n" +
			"differs: illegal moves, a wrong result, a deal that is not the one committed to.\n" +
			"Exit status: 0 all is well, 1 something differs, 2 a file cannot be read.",
		Example: "  timba replay verify replays/games/*.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			bad := 0
			for _, path := range args {
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
			fmt.Fprintf(w, "%d of %d replays verified\n", len(args)-bad, len(args))
			if bad > 0 {
				return errFault
			}
			return nil
		},
	}
}
