package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/rules/text"
)

// fromData makes cmd open the database in the data directory for reading, call get and print the answer, as text with
// show or, with the flag --json, as JSON. It returns cmd. The command fails if the flag --data is not set.
func fromData[T any](f *adminFlags, cmd *cobra.Command, get func(cmd *cobra.Command, s *store.Store, args []string) (T, error), show func(w io.Writer, answer T)) *cobra.Command {
	return cli.Result(cmd, func(cmd *cobra.Command, args []string) (answer T, err error) {
		err = f.withStore(store.Options{ReadOnly: true}, func(s *store.Store) error {
			answer, err = get(cmd, s, args)
			return err
		})
		return answer, err
	}, show)
}

// backup is the JSON document of `timba admin backup DIR --json`.
type backup struct {
	Dir    string `json:"folder"`
	Bytes  int64  `json:"bytes"`
	Config bool   `json:"configuration"` // whether the backup has a configuration
}

func newBackup(f *adminFlags) *cobra.Command {
	var config string
	cmd := fromData(f, &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up a competition to a new directory, even while the server runs",
		Long: "Writes a snapshot of the database, the uploads and the configuration to a directory that does not\n" +
			"exist yet. Matches continue meanwhile. The backup is a data directory itself: timba admin verify\n" +
			"can check it, and to restore it you copy it back. See docs/operating.md.",
		Example: "  timba admin backup --data /var/lib/timba /backup/timba-2026-01-31\n" +
			"  timba admin backup --data /var/lib/timba --config /etc/timba.toml /backup/other",
		Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, s *store.Store, args []string) (b backup, err error) {
		b.Dir = args[0]
		if err := s.Backup(cmd.Context(), b.Dir, config); err != nil {
			return b, err
		}
		if b.Bytes, _, err = trees.Size(b.Dir); err != nil {
			return b, sizeError(b.Dir)
		}
		_, err = os.Stat(datadir.Dir(b.Dir).Config())
		b.Config = err == nil
		return b, nil
	}, func(w io.Writer, b backup) {
		fmt.Fprintf(w, "wrote %s, %s\n", b.Dir, bundle.FormatSize(b.Bytes))
		if !b.Config {
			fmt.Fprintf(w, "It has no configuration: the data directory has none. Name the server's with --config FILE.\n")
		}
	})
	cmd.Flags().StringVar(&config, "config", "", "configuration `file` of the server (default: timba.toml in its directory)")
	return cmd
}

// verifyDocument is the JSON document of `timba admin verify --json`.
type verifyDocument struct {
	Differences []store.Difference `json:"differences"`
}

func newVerify(f *adminFlags) *cobra.Command {
	return fromData(f, &cobra.Command{
		Use:   "verify",
		Short: "Rebuild every game and every rating, and print the differences",
		Long: "Rebuilds every game of matches and of people from its replay and every rating from the matches,\n" +
			"and prints the differences from the database: a table and a key, a column, and the stored and the\n" +
			"rebuilt value. The server may run meanwhile. It makes temporary files ($TMPDIR).\n\n" +
			"Exit status: 0 no differences, 1 differences, 2 the data cannot be read, 3 interrupted.",
		Example: "  timba admin verify --data /var/lib/timba",
		Args:    cobra.NoArgs,
	}, verify, func(w io.Writer, v verifyDocument) {
		for _, d := range v.Differences {
			fmt.Fprintln(w, d)
		}
		fmt.Fprintf(w, "%s found\n", text.Count(len(v.Differences), "difference"))
	})
}

func verify(cmd *cobra.Command, s *store.Store, _ []string) (verifyDocument, error) {
	bar := cli.NewProgress(cmd.ErrOrStderr(), "matches")
	found, err := s.Verify(cmd.Context(), func(done, total int64) { bar.Set(int(done), int(total)) })
	bar.Clear()
	switch {
	case errors.Is(err, context.Canceled):
		err = cli.ErrNoVerdict
	case err == nil && len(found) > 0:
		err = cli.ErrFault
	}
	for i, d := range found {
		if d.Place == store.OtherFormula {
			found[i].Description += ": timba admin rerate computes them again"
		}
	}
	return verifyDocument{append([]store.Difference{}, found...)}, err
}

// rerateDocument is the JSON document of `timba admin rerate --json`.
type rerateDocument struct {
	DryRun  bool                  `json:"dry_run"`
	Ladders []store.ReratedLadder `json:"ladders"`
}

func newRerate(f *adminFlags) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "rerate",
		Short: "Compute all ratings again by the constants of this timba, and show how they change",
		Long: "Computes the ratings of all ladders and of people again, from the matches and games in their order. Run\n" +
			"it after a release that has other constants for ratings: its server does not start before. The server\n" +
			"must not run. Either all ratings change or none; with --dry-run nothing changes.",
		Example: "  timba admin rerate --data /var/lib/timba --dry-run\n  timba admin rerate --data /var/lib/timba",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the changes, and make none")
	return cli.Result(cmd, func(cmd *cobra.Command, _ []string) (r rerateDocument, err error) {
		r.DryRun = dry
		err = f.withStore(store.Options{Exclusive: true}, func(s *store.Store) (err error) {
			bar := cli.NewProgress(cmd.ErrOrStderr(), "matches")
			defer bar.Clear()
			r.Ladders, err = s.Rerate(cmd.Context(), dry, func(done, total int64) { bar.Set(int(done), int(total)) })
			return err
		})
		if errors.Is(err, context.Canceled) {
			err = cli.ErrNoVerdict
		}
		r.Ladders = append([]store.ReratedLadder{}, r.Ladders...)
		return r, err
	}, func(w io.Writer, r rerateDocument) {
		for _, l := range r.Ladders {
			showRerated(w, l, dry)
		}
	})
}

func showRerated(w io.Writer, r store.ReratedLadder, dry bool) {
	changed := slices.DeleteFunc(slices.Clone(r.Versions), func(v store.ReratedVersion) bool { return v.EloBefore == v.EloAfter })
	would := ""
	if dry {
		would = " would"
	}
	fmt.Fprintf(w, "%s: %s, %s of %s%s change\n", r.Ladder, text.Count(int(r.Matches), "match"), text.Count(len(changed), "rating"), text.Count(len(r.Versions), "version"), would)
	if len(changed) > 0 {
		text.Rows(w, "bot|version|matches|before|after|change", changed, func(v store.ReratedVersion) []any {
			return []any{v.Bot, v.Number, v.Matches, fmt.Sprintf("%.1f", v.EloBefore), fmt.Sprintf("%.1f", v.EloAfter), fmt.Sprintf("%+.1f", v.EloAfter-v.EloBefore)}
		})
	}
}

func newStorage(f *adminFlags) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "storage [DIR...]",
		Short: "Show what a competition takes on the disk, what a match costs, and how it grows",
		Long: "Shows the bytes of each part of the data directory and of each table, the average bytes of a match of each\n" +
			"game, the growth in the last day and week, and when the disk is full at this rate. It also shows what the\n" +
			"server would now move or remove according to [storage] in its configuration. Name the directories of\n" +
			"backups and of a worker to count them, too. The command changes nothing, and the server may run meanwhile.",
		Example: "  timba admin storage --data /var/lib/timba\n  timba admin storage --data /var/lib/timba --json",
		Args:    cobra.ArbitraryArgs,
	}
	cmd.Flags().StringVar(&path, "config", "", "the configuration `FILE` (default: timba.toml of the data directory)")
	return fromData(f, cmd, func(cmd *cobra.Command, s *store.Store, args []string) (storage, error) {
		return storageOf(cmd.Context(), s, path, args)
	}, func(w io.Writer, s storage) { s.show(w) })
}

// storage is the JSON document of `timba admin storage --json`. All sizes are in bytes.
type storage struct {
	Parts []storagePart `json:"parts"`
	Free  *int64        `json:"free"` // of the disk with the data directory; null if unknown
	Disk  *int64        `json:"disk"`
	store.DiskUsage
	Forecast storageForecast `json:"forecast"`
	Due      storageDue      `json:"due"`
}

type storagePart struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// storageForecast is an estimate of the growth of the data, in bytes. It is based on the last week, or on
// the time since the first match if that is shorter.
type storageForecast struct {
	Days    float64  `json:"days"` // length of the time that the forecast is based on
	Daily   int64    `json:"daily"`
	Monthly int64    `json:"monthly"` // in 30 days
	Yearly  int64    `json:"yearly"`
	Full    *float64 `json:"full"` // days until the disk is full; null if unknown, or if the data hardly grow
}

// storageDue has what the server would now move to the archive (finished matches), and what it would remove (built
// bots that nobody needs any more).
type storageDue struct {
	Matches     int   `json:"matches"`
	MatchBytes  int64 `json:"match_bytes"`
	ArchiveFull bool  `json:"archive_full"`
	Builds      int   `json:"builds"`
	BuildBytes  int64 `json:"build_bytes"`
}

// storageOf measures the data directory of s and the directories in others. It reads the configuration of the server
// from the file at path. If path is "", it reads the file in the data directory.
func storageOf(ctx context.Context, s *store.Store, path string, others []string) (doc storage, err error) {
	if path == "" {
		path = s.Dir().Config()
	} else if _, err := os.Stat(path); err != nil {
		return doc, fmt.Errorf("configuration: %q cannot be read: name the server's configuration file", path)
	}
	c, err := config.Read(path)
	if err != nil {
		return doc, err
	}
	if doc.DiskUsage, err = s.Usage(ctx); err != nil {
		return doc, err
	}
	if doc.Parts, err = storageParts(s.Dir(), doc.Bytes, others); err != nil {
		return doc, err
	}
	if free, disk, err := datadir.FreeSpace(string(s.Dir())); err == nil {
		doc.Free, doc.Disk = &free, &disk
	}
	doc.Forecast = forecast(doc.DiskUsage, doc.Free)
	doc.Due, err = dueStorage(ctx, s, c, doc.MeasuredAt)
	return doc, err
}

// storageParts returns the sizes of the parts of the data directory dir, and of the directories in others. The
// argument database is the size of the database in bytes.
func storageParts(dir datadir.Dir, database int64, others []string) ([]storagePart, error) {
	parts := []storagePart{
		{"database", dir.Database(), database}, {"archive", dir.Archive(), 0}, {"uploads", dir.Bundles(), 0}, {"built bots", dir.Bots(), 0},
		{"fleet", dir.Fleet(), 0}, {"temporary", dir.Temp(), 0},
	}
	rest, _, err := trees.Size(string(dir))
	if err != nil {
		return nil, sizeError(string(dir))
	}
	for i := range parts {
		if p := &parts[i]; i > 0 {
			if p.Bytes, _, err = trees.Size(p.Path); err != nil {
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
		bytes, _, err := trees.Size(path)
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

// minForecastSpan is the shortest time since the first match for which a forecast is made.
const minForecastSpan = time.Hour

// forecast estimates the growth of the data from the usage u. free is the number of free bytes on the disk, or nil if
// unknown. If the first match is too recent, the result is zero.
func forecast(u store.DiskUsage, free *int64) (f storageForecast) {
	span := u.MeasuredAt.Sub(u.FirstMatchAt)
	if u.FirstMatchAt.IsZero() || span < minForecastSpan {
		return f
	}
	f.Days = min(span, 7*24*time.Hour).Hours() / 24
	daily := float64(u.Week.Bytes+u.Week.Uploads) / f.Days
	f.Daily, f.Monthly, f.Yearly = int64(daily), int64(30*daily), int64(365*daily)
	if free != nil && daily >= 1 {
		days := math.Round(float64(*free+u.UnusedBytes)/daily*10) / 10
		f.Full = &days
	}
	return f
}

func dueStorage(ctx context.Context, s *store.Store, c *config.Config, now time.Time) (due storageDue, err error) {
	moved, err := s.EstimateMove(ctx, c.Storage)
	if err != nil {
		return due, err
	}
	builds, err := submission.SurplusBuilds(ctx, s, c.Storage, now)
	if err != nil {
		return due, err
	}
	due.Matches, due.MatchBytes, due.ArchiveFull = moved.Matches, moved.Bytes, moved.Full
	for _, b := range builds {
		due.Builds++
		due.BuildBytes += b.Bytes
	}
	return due, nil
}

const maxTables = 12

func (d storage) show(w io.Writer) {
	text.Rows(w, "what|size|path", d.Parts, func(p storagePart) []any { return []any{p.Name, bundle.FormatSize(p.Bytes), p.Path} })
	fmt.Fprintf(w, "%s of the database are free for new matches\n", bundle.FormatSize(d.UnusedBytes))
	if d.Free != nil {
		fmt.Fprintf(w, "%s of %s on the disk are free\n", bundle.FormatSize(*d.Free), bundle.FormatSize(*d.Disk))
	}
	fmt.Fprintln(w)
	tables := d.Tables
	if more := len(tables) - maxTables; more > 0 {
		rest := store.TableUsage{Table: fmt.Sprintf("%d more", more)}
		for _, t := range tables[maxTables:] {
			rest.Bytes += t.Bytes
		}
		tables = append(slices.Clone(tables[:maxTables]), rest)
	}
	text.Rows(w, "table|index|size", tables, func(t store.TableUsage) []any { return []any{t.Table, cli.OrDash(t.Index), bundle.FormatSize(t.Bytes)} })
	fmt.Fprintln(w)
	if len(d.Games) == 0 {
		fmt.Fprintln(w, "no match has finished yet")
	} else {
		size := func(bytes float64) string { return bundle.FormatSize(int64(bytes)) }
		text.Rows(w, "game|matches|games|a match|replays|logs|rows|before compression", d.Games, func(g store.GameUsage) []any {
			return []any{g.Game, g.Matches, g.Games, size(g.Bytes), size(g.Replays), size(g.Logs), size(g.Rows), size(g.UnpackedBytes)}
		})
	}
	showGrowth(w, "day", d.Day)
	showGrowth(w, "week", d.Week)
	d.Forecast.show(w)
	d.Due.show(w)
}

func showGrowth(w io.Writer, span string, g store.Growth) {
	fmt.Fprintf(w, "the last %s added %s with %s, and uploads of %s\n", span, text.Count(int(g.Matches), "match"), bundle.FormatSize(g.Bytes), bundle.FormatSize(g.Uploads))
}

func (f storageForecast) show(w io.Writer) {
	switch {
	case f.Days == 0:
		fmt.Fprintln(w, "a forecast needs an hour since the first match")
	case f.Full == nil:
		fmt.Fprintf(w, "at this rate: %s a day\n", bundle.FormatSize(f.Daily))
	default:
		fmt.Fprintf(w, "at this rate: %s a day, %s in 30 days, %s in a year; the disk is full in %s\n",
			bundle.FormatSize(f.Daily), bundle.FormatSize(f.Monthly), bundle.FormatSize(f.Yearly), text.Count(int(min(*f.Full, math.MaxInt32)), "day"))
	}
}

func (d storageDue) show(w io.Writer) {
	fmt.Fprintf(w, "due now: %s to move to files, %s; %s to remove, %s\n",
		text.Count(d.Matches, "match"), bundle.FormatSize(d.MatchBytes), text.Count(d.Builds, "built bot"), bundle.FormatSize(d.BuildBytes))
	if d.ArchiveFull {
		fmt.Fprintln(w, "the archive is full: old replays stay in the database: try a larger storage.size")
	}
}
