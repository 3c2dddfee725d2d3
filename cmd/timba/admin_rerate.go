package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder/elo"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/text"
)

func (f *adminFlags) newRerate() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "rerate [LADDER...]",
		Short: "Compute all ratings again by the formula of this timba, and show how they change",
		Long: "Computes the ratings of all ladders, or of some, again from their matches in their order: after a\n" +
			"release that has other constants. Until then each ladder goes on by the constants that it has.\n" +
			"The server must not run. A ladder changes as a whole or not at all; with --dry-run nothing\n" +
			"changes.",
		Example: "  timba admin rerate --data /var/lib/timba --dry-run\n  timba admin rerate --data /var/lib/timba brisca-2",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.data == "" {
				return errNoData
			}
			s, err := store.Open(f.data, store.Options{Exclusive: true})
			if err != nil {
				return err
			}
			return errors.Join(f.rerate(cmd, s, args, dry), s.Close())
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the changes, and make none")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

// ladderRerated is a ladder in the JSON of timba admin rerate.
type ladderRerated struct {
	Ladder   string           `json:"ladder"`
	Matches  int64            `json:"matches"`
	Before   elo.Formula      `json:"before"`
	After    elo.Formula      `json:"after"`
	Versions []versionRerated `json:"versions"`
}

type versionRerated struct {
	Bot     string  `json:"bot"`
	Version int     `json:"version"`
	Matches int     `json:"matches"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
}

func (f *adminFlags) rerate(cmd *cobra.Command, s *store.Store, names []string, dry bool) error {
	if len(names) == 0 {
		ladders, err := s.Ladders(cmd.Context())
		if err != nil {
			return err
		}
		for _, l := range ladders {
			names = append(names, l.Name)
		}
	}
	docs := []ladderRerated{}
	for _, name := range names {
		bar := cli.NewProgress(cmd.ErrOrStderr(), "matches")
		r, err := s.Rerate(cmd.Context(), name, dry, func(done, total int64) {
			bar.Set(int(done), int(total))
		})
		bar.Clear()
		if err != nil {
			return err
		}
		if !f.json {
			showRerated(cmd.OutOrStdout(), r, dry)
			continue
		}
		doc := ladderRerated{r.Ladder, r.Matches, r.Before, r.After, []versionRerated{}}
		for _, v := range r.Versions {
			doc.Versions = append(doc.Versions, versionRerated{v.Bot, v.Number, v.Matches, v.Before, v.After})
		}
		docs = append(docs, doc)
	}
	if !f.json {
		return nil
	}
	return cli.WriteJSON(cmd.OutOrStdout(), struct {
		DryRun  bool            `json:"dry_run"`
		Ladders []ladderRerated `json:"ladders"`
	}{dry, docs})
}

// showRerated shows the versions of a ladder whose ratings change.
func showRerated(w io.Writer, r store.Rerated, dry bool) {
	t := text.Table(w)
	t.AppendHeader(table.Row{"bot", "version", "matches", "before", "after", "change"})
	changed := 0
	for _, v := range r.Versions {
		if v.Before != v.After {
			changed++
			t.AppendRow(table.Row{v.Bot, v.Number, v.Matches, fmt.Sprintf("%.1f", v.Before), fmt.Sprintf("%.1f", v.After), fmt.Sprintf("%+.1f", v.After-v.Before)})
		}
	}
	would := ""
	if dry {
		would = " would"
	}
	fmt.Fprintf(w, "%s: %s, %s of %s%s change\n", r.Ladder, text.Count(int(r.Matches), "match"), text.Count(changed, "rating"), text.Count(len(r.Versions), "version"), would)
	if r.Before != r.After {
		fmt.Fprintf(w, "formula before: %s\nformula after:  %s\n", r.Before, r.After)
	}
	if changed > 0 {
		t.Render()
	}
}
