// Timba-lab trains bots, repeats the experiments of the studies behind the house bots, serves the games to
// learning programs in other languages, and measures timba.
package main

import (
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
)

func main() { cli.Main(newRoot) }

// newRoot returns the command timba-lab. It has a hidden command "bot", which plays the house bots, bots that are
// part of timba. A match starts each of them as a process of this program with that command.
func newRoot() *cobra.Command {
	bot := cli.NewBot()
	bot.Hidden = true
	root := cli.Root(&cobra.Command{
		Use:   "timba-lab",
		Short: "The laboratory of timba: training, experiments and measurements",
		Long: "timba-lab trains bots for the games of timba, repeats the experiments of published studies, and measures\n" +
			"timba itself. timba plays the trained models as house bots: timba match brisca @net:model=FILE @greedy.",
	}, newTrain(), newEnv(), newExperiment(), newBench(), bot)
	cli.Complete(root, complete)
	return root
}
