// Package commands implements the commands of the program timba. A program of another module can register games with
// package games and then call Main. That program is timba with additional games (see docs/your-own-game.md).
package commands

import (
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/sandbox"
)

// Main is the main function of timba.
func Main() { cli.Main(newRoot) }

func newRoot() *cobra.Command {
	root := cli.Root(&cobra.Command{
		Use:   "timba",
		Short: "A referee for bots that play games of cards and boards",
		Long:  "timba plays matches between bots written in any language. It exchanges lines with them over\nstdin and stdout, validates every move, keeps the clocks and records replays.\n\nTry: timba demo",
	},
		newMatch(), newCheck(), newInit(), newDemo(), newGames(), newPerft(), newReplay(), newReport(), newExplain(), newPlay(), cli.NewBot(), newDoctor(sandbox.SelfTest),
		newLogin(), newLogout(), newSubmit(), newConnect(), newBots(), newStandings(), newMatches(), newLogs(), newMessages(), newReplays(), newTokens(), newAdmin(), newServe(), newWorker(),
	)
	cli.Complete(root, complete)
	return root
}
