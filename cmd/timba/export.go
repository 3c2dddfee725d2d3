package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/web/replaypage"
)

func newReplayExport() *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:   "export FILE|DIRECTORY...",
		Short: "Export replays as a page, or as a table for training",
		Long: "Exports one replay as a self-contained HTML page that plays the game back, or one or more\n" +
			"replays as a table, csv or json, with one row for each move: what the seat saw, its\n" +
			"legal moves, the move it made, and how the game ended for it.\n" +
			"A page is written next to FILE with the extension .html, rows to standard output,\n" +
			"unless --out names a file (- is standard output).",
		Example: "  timba replay export replays/games/0000-00000-0.json\n" +
			"  timba replay export --format csv --out moves.csv replays",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := replayFiles(args)
			if err != nil {
				return err
			}
			if format == "html" && len(args) > 1 {
				return fmt.Errorf("export: a page shows one game, not %d: export the files one at a time, or use --format csv", len(args))
			}
			if format == "html" && out == "" {
				out = pageName(args[0])
			}
			if err := keepInput(out, args); err != nil {
				return err
			}
			switch format {
			case "html":
				return cli.WriteFile(cmd, out, func(w io.Writer) error { return exportPage(cmd, w, args[0]) })
			case "csv":
				return cli.WriteFile(cmd, out, func(w io.Writer) error { return exportRows(cmd, replaypage.NewCSV(w), args) })
			case "json":
				return cli.WriteFile(cmd, out, func(w io.Writer) error { return exportRows(cmd, replaypage.NewJSON(w), args) })
			}
			return fmt.Errorf("export: format %q does not exist: try html, csv or json", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "html", "html, csv or json")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the file to write, - for standard output")
	return cmd
}

// pageName returns the default file of the page of a replay.
func pageName(path string) string {
	if path == "-" {
		return "-"
	}
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".html"
}

// keepInput returns an error if the file that is written would replace one that is read.
func keepInput(out string, in []string) error {
	to, err := os.Stat(out)
	if err != nil || out == "-" {
		return nil
	}
	for _, path := range in {
		if from, err := os.Stat(path); err == nil && path != "-" && os.SameFile(from, to) {
			return fmt.Errorf("out: %q would replace the replay %q: name another file with --out", out, path)
		}
	}
	return nil
}

func exportPage(cmd *cobra.Command, w io.Writer, path string) error {
	r, g, err := readReplay(cmd, path)
	if err != nil {
		return err
	}
	game, err := replaypage.NewGame(r, g)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return game.WritePage(w)
}

func exportRows(cmd *cobra.Command, rows replaypage.RowWriter, paths []string) error {
	for _, path := range paths {
		r, g, err := readReplay(cmd, path)
		if err != nil {
			return err
		}
		if err := replaypage.Rows(r, g, rows.Write); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return rows.Close()
}
