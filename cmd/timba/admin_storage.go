package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sample-bots/house"
)

func (f *adminFlags) newStorage() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "storage [DIR...]",
		Short: "Show what a competition takes on the disk, what a match costs, and how it grows",
		Long: "Shows the bytes of each part of the data directory and of each table, what a match of each game takes\n" +
			"on average, what the last day and week have added, when the disk is full at this rate, and what the\n" +
			"server would move or remove now by [storage] in its configuration. Other directories count, too: those\n" +
			"of backups, and that of a worker. It changes nothing, and the server may run meanwhile.",
		Example: "  timba admin storage --data /var/lib/timba\n  timba admin storage --data /var/lib/timba --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.onData(func(s *store.Store) error {
				doc, err := storageOf(cmd.Context(), s, path, args)
				if err != nil {
					return err
				}
				if f.json {
					return cli.WriteJSON(cmd.OutOrStdout(), doc)
				}
				doc.show(cmd.OutOrStdout())
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "the configuration `FILE` (default: timba.toml of the data directory)")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

// storageDoc is the JSON of timba admin storage. All sizes are in bytes.
type storageDoc struct {
	Parts    []storagePart   `json:"parts"`
	Free     *int64          `json:"free"` // of the disk with the data directory; null: not known
	Disk     *int64          `json:"disk"`
	Unused   int64           `json:"unused"` // within the database, for new matches
	Tables   []storageTable  `json:"tables"`
	Games    []storageGame   `json:"games"`
	Day      storageGrowth   `json:"day"`
	Week     storageGrowth   `json:"week"`
	Forecast storageForecast `json:"forecast"`
	Due      storageDue      `json:"due"`
}

type storagePart struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

type storageTable struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"`
	Bytes int64  `json:"bytes"`
}

// storageGame has what a match takes on average.
type storageGame struct {
	Game     string  `json:"game"`
	Matches  int64   `json:"matches"`
	Games    int64   `json:"games"`
	Bytes    float64 `json:"bytes"`
	Replays  float64 `json:"replays"`
	Logs     float64 `json:"logs"`
	Rows     float64 `json:"rows"`
	Unpacked float64 `json:"unpacked"`
}

type storageGrowth struct {
	Matches int64 `json:"matches"`
	Bytes   int64 `json:"bytes"`
	Uploads int64 `json:"uploads"`
}

// storageForecast is how the data go on to grow at the rate of the last week, or of the time since the first
// match.
type storageForecast struct {
	Days    float64  `json:"days"` // by which it goes
	Daily   int64    `json:"daily"`
	Monthly int64    `json:"monthly"` // in 30 days
	Yearly  int64    `json:"yearly"`
	Full    *float64 `json:"full"` // days until the disk is full; null: not at this rate, or not known
}

// storageDue is what the server would move or remove now.
type storageDue struct {
	Matches     int   `json:"matches"`
	MatchBytes  int64 `json:"match_bytes"`
	ArchiveFull bool  `json:"archive_full"`
	Builds      int   `json:"builds"`
	BuildBytes  int64 `json:"build_bytes"`
}

// storageOf measures a data directory, and other directories.
func storageOf(ctx context.Context, s *store.Store, path string, others []string) (doc storageDoc, err error) {
	if path == "" {
		path = s.Dir().Config()
	} else if _, err := os.Stat(path); err != nil {
		return doc, fmt.Errorf("configuration: %q cannot be read: name the file of the server's --config", path)
	}
	c, err := config.Read(path, house.Registry{})
	if err != nil {
		return doc, err
	}
	u, err := s.Usage(ctx)
	if err != nil {
		return doc, err
	}
	if doc.Parts, err = storageParts(s.Dir(), u.Bytes, others); err != nil {
		return doc, err
	}
	doc.Unused, doc.Tables, doc.Games = u.Free, []storageTable{}, []storageGame{}
	for _, t := range u.Tables {
		doc.Tables = append(doc.Tables, storageTable(t))
	}
	for _, g := range u.Games {
		doc.Games = append(doc.Games, storageGame{g.Game, g.Matches, g.Games, g.Bytes(), g.Replays, g.Logs, g.Rows, g.Unpacked})
	}
	doc.Day, doc.Week = storageGrowth(u.Day), storageGrowth(u.Week)
	if free, disk, err := datadir.Free(string(s.Dir())); err == nil {
		doc.Free, doc.Disk = &free, &disk
	}
	doc.Forecast = forecast(u, doc.Free)
	doc.Due, err = storageIsDue(ctx, s, c, u.At)
	return doc, err
}

// storageParts returns the parts of a data directory, and then other directories.
func storageParts(dir datadir.Dir, database int64, others []string) ([]storagePart, error) {
	parts := []storagePart{
		{"database", dir.Database(), database}, {"archive", dir.Archive(), 0}, {"uploads", dir.Bundles(), 0}, {"built bots", dir.Bots(), 0},
		{"fleet", dir.Fleet(), 0}, {"temporary", dir.Temp(), 0},
	}
	rest, err := datadir.Size(string(dir))
	if err != nil {
		return nil, sizeError(string(dir))
	}
	for i := range parts {
		if p := &parts[i]; i > 0 {
			if p.Bytes, err = datadir.Size(p.Path); err != nil {
				return nil, sizeError(p.Path)
			}
		}
		rest -= parts[i].Bytes
	}
	parts = append(parts, storagePart{"other files", string(dir), max(0, rest)})
	for _, path := range others {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			return nil, fmt.Errorf("storage: %s is not a directory: name those of backups, or that of a worker", text.Quote(path))
		}
		bytes, err := datadir.Size(path)
		if err != nil {
			return nil, sizeError(path)
		}
		parts = append(parts, storagePart{filepath.Base(path), path, bytes})
	}
	return parts, nil
}

func sizeError(path string) error {
	return fmt.Errorf("storage: the directory %s cannot be read: try it as the user of the server", text.Quote(path))
}

// leastSpan is the shortest time by which a forecast goes.
const leastSpan = time.Hour

// forecast goes by the last week, or by the time since the first match if that is shorter.
func forecast(u store.Usage, free *int64) (f storageForecast) {
	span := u.At.Sub(u.First)
	if u.First.IsZero() || span < leastSpan {
		return f
	}
	f.Days = min(span, 7*24*time.Hour).Hours() / 24
	daily := float64(u.Week.Bytes+u.Week.Uploads) / f.Days
	f.Daily, f.Monthly, f.Yearly = int64(daily), int64(30*daily), int64(365*daily)
	if free != nil && daily >= 1 {
		days := math.Round(float64(*free+u.Free)/daily*10) / 10
		f.Full = &days
	}
	return f
}

func storageIsDue(ctx context.Context, s *store.Store, c *config.Config, now time.Time) (due storageDue, err error) {
	moved, err := s.WouldMove(ctx, c.Storage)
	if err != nil {
		return due, err
	}
	builds, err := submission.Builds(ctx, s)
	if err != nil {
		return due, err
	}
	due.Matches, due.MatchBytes, due.ArchiveFull = moved.Matches, moved.Bytes, moved.Full
	for _, b := range submission.Choose(builds, c.Storage, now) {
		due.Builds++
		due.BuildBytes += b.Bytes
	}
	return due, nil
}

// mostTables is how many tables and indexes are shown.
const mostTables = 12

func (d storageDoc) show(w io.Writer) {
	t := text.Table(w)
	t.AppendHeader(table.Row{"what", "size", "path"})
	for _, p := range d.Parts {
		t.AppendRow(table.Row{p.Name, bundle.Size(p.Bytes), p.Path})
	}
	t.Render()
	fmt.Fprintf(w, "%s of the database are free for new matches\n", bundle.Size(d.Unused))
	if d.Free != nil {
		fmt.Fprintf(w, "%s of %s on the disk are free\n", bundle.Size(*d.Free), bundle.Size(*d.Disk))
	}
	fmt.Fprintln(w)
	t = text.Table(w)
	t.AppendHeader(table.Row{"table", "index", "size"})
	var rest int64
	for i, x := range d.Tables {
		if i >= mostTables {
			rest += x.Bytes
			continue
		}
		t.AppendRow(table.Row{x.Table, cli.OrDash(x.Index), bundle.Size(x.Bytes)})
	}
	if rest > 0 {
		t.AppendRow(table.Row{fmt.Sprintf("%d more", len(d.Tables)-mostTables), "-", bundle.Size(rest)})
	}
	t.Render()
	fmt.Fprintln(w)
	d.showMatches(w)
	d.showGrowth(w)
	d.Due.show(w)
}

// showMatches shows what a match takes.
func (d storageDoc) showMatches(w io.Writer) {
	if len(d.Games) == 0 {
		fmt.Fprintln(w, "no match has finished yet")
		return
	}
	t := text.Table(w)
	t.AppendHeader(table.Row{"game", "matches", "games", "a match", "replays", "logs", "rows", "before compression"})
	for _, g := range d.Games {
		t.AppendRow(table.Row{
			g.Game, g.Matches, g.Games, bundle.Size(int64(g.Bytes)), bundle.Size(int64(g.Replays)), bundle.Size(int64(g.Logs)), bundle.Size(int64(g.Rows)), bundle.Size(int64(g.Unpacked)),
		})
	}
	t.Render()
}

func (d storageDoc) showGrowth(w io.Writer) {
	for _, g := range []struct {
		name string
		storageGrowth
	}{{"day", d.Day}, {"week", d.Week}} {
		fmt.Fprintf(w, "the last %s added %s with %s, and uploads of %s\n", g.name, text.Count(int(g.Matches), "match"), bundle.Size(g.Bytes), bundle.Size(g.Uploads))
	}
	f := d.Forecast
	switch {
	case f.Days == 0:
		fmt.Fprintln(w, "a forecast needs an hour since the first match")
		return
	case f.Full == nil:
		fmt.Fprintf(w, "at this rate: %s a day\n", bundle.Size(f.Daily))
	default:
		fmt.Fprintf(w, "at this rate: %s a day, %s in 30 days, %s in a year; the disk is full in %s\n",
			bundle.Size(f.Daily), bundle.Size(f.Monthly), bundle.Size(f.Yearly), text.Count(int(min(*f.Full, math.MaxInt32)), "day"))
	}
}

func (d storageDue) show(w io.Writer) {
	fmt.Fprintf(w, "due now: %s to move to files, %s; %s to remove, %s\n",
		text.Count(d.Matches, "match"), bundle.Size(d.MatchBytes), text.Count(d.Builds, "built bot"), bundle.Size(d.BuildBytes))
	if d.ArchiveFull {
		fmt.Fprintln(w, "the archive is full: old replays stay in the database: try a larger storage.size")
	}
}
