package commands

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

func newPerft() *cobra.Command {
	var (
		depth  int
		seed   string
		set    []string
		divide bool
	)
	cmd := &cobra.Command{
		Use:   "perft GAME",
		Short: "Count the sequences of legal moves from the start of a game",
		Long: "Counts the sequences of N legal moves from the start of a game; a game that ends\n" +
			"earlier adds none. The seed is the seed of the game: another program that deals from\n" +
			"the same seed must get the same counts.",
		Example: "  timba perft tebes --depth 4 --set size=4\n  timba perft brisca --depth 6 --seed 7 --divide",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := resolveGame(args[0], set, 0)
			if err != nil {
				return err
			}
			s, err := referee.ParseSeed(seed)
			if err != nil {
				return err
			}
			stream := rules.NewStream(s)
			state := v.Deal(&stream)
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "%s %s\nseed %s\n", args[0], v.Settings, referee.Hex(s))
			if divide && depth > 0 {
				for _, m := range state.Legal(nil) {
					next := state.Clone()
					next.Apply(m, nil)
					count, err := rules.Perft(cmd.Context(), next, depth-1)
					if err != nil {
						return err
					}
					fmt.Fprintf(w, "%s %d\n", state.MoveText(nil, m), count)
				}
			}
			for n := range depth + 1 {
				began := time.Now()
				count, err := rules.Perft(cmd.Context(), state, n)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "perft %d: %d", n, count)
				if took := time.Since(began); took > time.Second {
					fmt.Fprintf(w, " (%.1f s)", took.Seconds())
				}
				fmt.Fprintln(w)
			}
			return nil
		},
	}
	cli.NumberFlag(cmd, &depth, "depth", 3, 0, 1000, "moves in a sequence")
	cmd.Flags().StringVar(&seed, "seed", "0", "seed of the game: 64 hexadecimal digits or a number")
	cmd.Flags().StringArrayVar(&set, "set", nil, "option of the game, as `name=value`; may be repeated")
	cmd.Flags().BoolVar(&divide, "divide", false, "also count for each first move")
	return cmd
}
