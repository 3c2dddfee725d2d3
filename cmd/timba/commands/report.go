package commands

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/tournament/report"
	"github.com/timba-arena/timba/web/site"
)

func newReport() *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR FILE",
		Short: "Write the report of a finished match: a page to send, or a table of its games",
		Long: "Writes what timba match --report writes, from the DIR of --out of a match that is over.\n\n" +
			"FILE.html is a page in one file: standings, who beats whom, faults and their causes, how it was\n" +
			"played, and games that the page itself plays back. It needs no network, and speaks English,\n" +
			"Catalan and Spanish. FILE.csv has a row for each seat of each game, for a spreadsheet.",
		Example: "  timba report replays match.html\n  timba report replays games.csv",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkReport(args[1]); err != nil {
				return err
			}
			return writeReport(cmd, args[0], args[1])
		},
	}
}

// reportWriters has the functions that write reports, by the extension of the file.
var reportWriters = map[string]func(io.Writer, *report.Archive) error{
	".html": site.WriteReport,
	".csv":  func(w io.Writer, s *report.Archive) error { return s.WriteCSV(w) },
}

func reportWriter(path string) func(io.Writer, *report.Archive) error {
	return reportWriters[strings.ToLower(filepath.Ext(path))]
}

// checkReport returns an error if no report can be written to the file at path.
func checkReport(path string) error {
	if reportWriter(path) == nil {
		return fmt.Errorf("report: %q must end in .html, for a page, or .csv, for a table", path)
	}
	if err := cli.CheckFile(path); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// writeReport writes the report of the match in the directory dir to the file at path, which checkReport has checked.
func writeReport(cmd *cobra.Command, dir, path string) error {
	_, err := cli.UntilInterrupt(cmd, func() (any, error) {
		stored, err := report.ReadArchive(dir)
		if err != nil {
			return nil, err
		}
		return nil, cli.WriteFile(cmd, path, func(w io.Writer) error { return reportWriter(path)(w, stored) })
	})
	return err
}
