package main

import "github.com/spf13/cobra"

func newBenchSite() *cobra.Command {
	var pages pagesFlags
	cmd := &cobra.Command{
		Use:   "site",
		Short: "Measure the pages of the site",
		Long: "Makes a competition with many finished matches in a temporary directory, serves its site on\n" +
			"loopback, and fetches each page again and again while more matches are finished. Prints how\n" +
			"long the pages take, and how many bytes a first visit loads.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			writeMachine(cmd.OutOrStdout())
			return benchPages(cmd, pages)
		},
	}
	pages.add(cmd)
	return cmd
}
