// Timba plays matches between bots at Brisca, Tute, La Podrida, Tebes and Teeko.
package main

import (
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
)

func main() { cli.Main(newRoot) }

func newRoot() *cobra.Command {
	return cli.Root(&cobra.Command{
		Use:   "timba",
		Short: "A referee for bots that play Brisca, Tute, La Podrida, Tebes and Teeko",
		Long:  "timba plays matches between bots written in any language. It exchanges lines with them over\nstdin and stdout, validates every move, keeps the clocks and records replays.\n\nTry: timba demo",
	},
		newMatch(), newCheck(), newInit(), newDemo(), newGames(), newPerft(), newReplay(), newExplain(), newPlay(), cli.NewBot(), newDoctor(),
		newLogin(), newLogout(), newSubmit(), newConnect(), newBots(), newStandings(), newMatches(), newLogs(), newMessages(), newReplays(), newTokens(), newAdmin(), newServe(), newWorker(),
	)
}
