package commands

import (
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/terminal/draw"
	"github.com/timba-arena/timba/terminal/explain"
	"github.com/timba-arena/timba/tournament"
)

func newExplain() *cobra.Command {
	var number int
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "explain DIRECTORY|FILE...",
		Short: "Explain what went wrong in a match, or what was remarkable",
		Long: "Reads replays: files, or all those of a directory of timba match or timba replays. For\n" +
			"each fault it shows which bot failed, where and how: the last lines of both sides, the\n" +
			"bot's log, the position, the legal moves, and what to change. If a bot has several faults\n" +
			"of one kind, the first is shown in full and each of the others in one line. Without faults\n" +
			"it shows the longest thinking times, the moves after which a bot changed its estimate of\n" +
			"the game, and the closest and the most lopsided deals. --json writes all of this as a\n" +
			"document.",
		Example: "  timba explain replays\n" +
			"  timba explain replays --fault 3\n" +
			"  timba explain replays --json\n" +
			"  timba explain replays/games/0000-00002-1.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			games, err := explain.Open(args, func(path string) (*referee.Replay, *rules.Game, error) { return readReplay(cmd, path) })
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			e := &explain.Explainer{
				Writer: w, Style: draw.StyleFor(w), Paths: args, Games: games, All: all, Command: cli.CommandLine, DescribeBot: tournament.DescribeBot,
			}
			if asJSON {
				doc, err := e.Document(number)
				if err != nil {
					return err
				}
				return cli.WriteJSON(w, doc)
			}
			if cmd.Flags().Changed("fault") {
				return e.Fault(number)
			}
			return e.Explain()
		},
	}
	cli.CountFlag(cmd, &number, "fault", 0, "show only the fault with this number, from 1")
	cmd.Flags().BoolVar(&all, "all", false, "show all faults in full")
	cli.JSONFlag(cmd, &asJSON)
	cmd.MarkFlagsMutuallyExclusive("fault", "all")
	cmd.MarkFlagsMutuallyExclusive("json", "all")
	return cmd
}
