package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/lab/train/lms"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

func newTrain() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train bots that learn",
	}
	cmd.AddCommand(newTrainTeeko(), newTrainData(), newTrainSL(), newTrainRL(), newTrainGA(), newTrainNet())
	return cmd
}

func newTrainTeeko() *cobra.Command {
	t := lms.Training{Start: teekolms.Initial}
	var opponent, out, from string
	cmd := &cobra.Command{
		Use:   "teeko-lms",
		Short: "Learn the weights of @teeko-lms by least mean squares",
		Long: "Plays Teeko against an opponent, learns after each game, and prints the weights. The seed decides\n" +
			"everything random. Play with them as @teeko-lms:weights=..., which the first line shows.",
		Example: "  timba-lab train teeko-lms --games 5000 --mu 0.01 --opponent random --out teeko.txt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch opponent {
			case "random", "self":
				t.Self = opponent == "self"
			default:
				return fmt.Errorf("opponent %q: try random or self", opponent)
			}
			if from != "" {
				text, err := os.ReadFile(from)
				if err != nil {
					return err
				}
				if t.Start, err = teekolms.ParseText(string(text)); err != nil {
					return fmt.Errorf("%s: %w", from, err)
				}
			}
			report, err := lms.Train(cmd.Context(), t)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%d games against %s: %d won, %d lost, %d drawn\n",
				report.Games(), opponent, report.Won, report.Lost, report.Drawn)
			if out != "" {
				return os.WriteFile(out, []byte(report.Weights.Text()), 0o644)
			}
			fmt.Fprint(cmd.OutOrStdout(), report.Weights.Text())
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&t.Games, "games", 5000, "how many games to play")
	f.Float64Var(&t.Mu, "mu", 0.01, "the rate of learning, above 0, at most 1")
	f.StringVar(&opponent, "opponent", "random", "who to play against: `random` or self")
	f.Uint64Var(&t.Seed, "seed", 1, "the seed of everything random")
	f.StringVar(&out, "out", "", "write the weights to this `FILE`")
	f.StringVar(&from, "from", "", "begin with the weights of this `FILE`")
	return cmd
}
