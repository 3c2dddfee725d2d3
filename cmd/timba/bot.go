package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/sample-bots/house"
)

func newBot() *cobra.Command {
	var help strings.Builder
	for _, b := range house.List() {
		fmt.Fprintf(&help, "  %-15s %s\n", b.Name, b.Help)
	}
	return &cobra.Command{
		Use:     "bot NAME[:KEY=VALUE,...]",
		Short:   "Run a house bot on stdin and stdout",
		Long:    "Speaks the protocol on stdin and stdout as one of the house bots. In a match, write @NAME.\n\nHouse bots:\n" + help.String(),
		Example: "  timba bot greedy",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return untilInterrupt(cmd, func() error {
				return house.Run(strings.TrimPrefix(args[0], "@"), cmd.InOrStdin(), cmd.OutOrStdout())
			})
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, b := range house.List() {
				names = append(names, b.Name+"\t"+b.Help)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
