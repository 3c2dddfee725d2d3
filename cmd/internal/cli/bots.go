package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// NewBot returns the command "bot", which plays a house bot, a bot that is part of timba. A match runs this program
// with that command to start the bot.
func NewBot() *cobra.Command {
	var help strings.Builder
	for _, b := range house.Bots() {
		fmt.Fprintf(&help, "  %-15s %s\n", b.Name, b.Help)
	}
	return &cobra.Command{
		Use:     "bot NAME[:KEY=VALUE,...]",
		Short:   "Run a house bot on stdin and stdout",
		Long:    "Speaks the protocol on stdin and stdout as one of the house bots. In a match, write @NAME.\n\nHouse bots:\n" + help.String(),
		Example: "  timba bot greedy",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := UntilInterrupt(cmd, func() (any, error) {
				return nil, house.Run(strings.TrimPrefix(args[0], "@"), cmd.InOrStdin(), cmd.OutOrStdout())
			})
			return err
		},
	}
}

// HouseBots returns the bots that are part of timba as shell completions. Each is prefix, the bot's name, a tab and a
// line of help.
func HouseBots(prefix string) (names []string) {
	for _, b := range house.Bots() {
		names = append(names, prefix+b.Name+"\t"+b.Help)
	}
	return names
}

// Resolver returns a resolver for the BOT arguments of cmd, which finds the programs that they name. It builds bots
// in a sandbox of the given level, and logs the builds to the command's stderr.
func Resolver(cmd *cobra.Command, level sandbox.Level) program.Resolver {
	return program.Resolver{Log: cmd.ErrOrStderr(), Level: level}
}
