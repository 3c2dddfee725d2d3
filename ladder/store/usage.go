package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// DiskUsage describes the size of the database, in bytes.
type DiskUsage struct {
	MeasuredAt   time.Time    `json:"-"`
	FirstMatchAt time.Time    `json:"-"`      // when the first match finished; zero if none has
	Bytes        int64        `json:"-"`      // of all its files, including unused pages
	UnusedBytes  int64        `json:"unused"` // of free pages, which new matches use first
	Tables       []TableUsage `json:"tables"`
	Games        []GameUsage  `json:"games"`
	Day          Growth       `json:"day"`  // growth in the last 24 hours
	Week         Growth       `json:"week"` // growth in the last seven days
}

// TableUsage is the size of a table or an index.
type TableUsage struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // empty for the table itself
	Bytes int64  `json:"bytes"`
}

// GameUsage is the size of the finished matches of one game. The sizes are averages per match, in bytes.
type GameUsage struct {
	Game          string  `json:"game"`
	Matches       int64   `json:"matches"`
	Games         int64   `json:"games"`
	Bytes         float64 `json:"bytes"`   // sum of Replays, Logs and Rows
	Replays       float64 `json:"replays"` // compressed, in the database or the archive
	Logs          float64 `json:"logs"`
	Rows          float64 `json:"rows"`     // of all other rows and indexes of matches, divided equally among matches
	UnpackedBytes float64 `json:"unpacked"` // of replays and logs before compression
}

// Growth is how much was added to the database and to the uploads during a period.
type Growth struct {
	Matches int64 `json:"matches"` // finished matches
	Bytes   int64 `json:"bytes"`   // of these matches
	Uploads int64 `json:"uploads"` // bytes of uploads
}

// Usage measures the sizes of the database and of its tables. It reads the whole database, and may be called
// while a server runs.
func (s *Store) Usage(ctx context.Context) (u DiskUsage, err error) {
	u.MeasuredAt, u.Games = s.options.Now(), []GameUsage{}
	if u.Bytes, err = s.fileBytes(); err != nil {
		return u, err
	}
	if u.Tables, err = s.tableUsage(ctx); err != nil {
		return u, machineError(contextError(ctx, err))
	}
	var pages, size int64
	err = s.readers.QueryRowContext(ctx, "SELECT * FROM pragma_freelist_count, pragma_page_size").Scan(&pages, &size)
	if err == nil {
		u.UnusedBytes = pages * size
		err = s.gameUsage(ctx, &u)
	}
	return u, machineError(contextError(ctx, err))
}

// fileBytes returns the size of the database file and of the files that SQLite has beside it.
func (s *Store) fileBytes() (total int64, err error) {
	for _, end := range []string{"", "-wal", "-shm"} {
		bytes, _, err := trees.Size(s.dir.Database() + end)
		if err != nil {
			return 0, unavailable("check the directory, its owner and its permissions", "data: the database cannot be looked at: %w", err)
		}
		total += bytes
	}
	return total, nil
}

// tableUsage returns the sizes of all tables and indexes, the largest first.
func (s *Store) tableUsage(ctx context.Context) (list []TableUsage, err error) {
	rows, err := s.readers.QueryContext(ctx, `SELECT coalesce(sqlite_schema.tbl_name, dbstat.name), coalesce(sqlite_schema.type, '') = 'index', dbstat.name, dbstat.pgsize
		FROM dbstat LEFT JOIN sqlite_schema ON sqlite_schema.name = dbstat.name WHERE dbstat.aggregate = TRUE`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t TableUsage
		var index bool
		var name string
		if err := rows.Scan(&t.Table, &index, &name, &t.Bytes); err != nil {
			return nil, err
		}
		if index {
			t.Index = name
		}
		list = append(list, t)
	}
	slices.SortStableFunc(list, func(a, b TableUsage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Table+a.Index, b.Table+b.Index))
	})
	return list, rows.Err()
}

// gameUsage sets u.Games, u.FirstMatchAt, u.Day and u.Week. u.Tables must be set. The size of rows is divided
// equally among all matches.
func (s *Store) gameUsage(ctx context.Context, u *DiskUsage) error {
	day, week := u.MeasuredAt.Add(-24*time.Hour), u.MeasuredAt.Add(-7*24*time.Hour)
	list, err := s.read.UsageByGame(ctx, stamp(day), stamp(week))
	if err != nil {
		return err
	}
	var rows, matches float64
	for _, t := range u.Tables {
		switch t.Table {
		case "matches", "settings", "match_slots", "attempts", "changes", "documents", "results", "fingerprints":
			rows += float64(t.Bytes)
		}
	}
	for _, r := range list {
		rows, matches = rows-float64(r.Inside), matches+float64(r.Matches)
		if at := moment(r.Earliest); u.FirstMatchAt.IsZero() || at.Before(u.FirstMatchAt) {
			u.FirstMatchAt = at
		}
	}
	for _, r := range list {
		if n := len(u.Games); n == 0 || u.Games[n-1].Game != r.Game {
			u.Games = append(u.Games, GameUsage{Game: r.Game})
		}
		u.Games[len(u.Games)-1].add(r)
		added := Growth{Matches: r.Matches, Bytes: r.Replays + r.Logs + int64(rows*float64(r.Matches)/matches)}
		if r.Age == 0 {
			u.Day.add(added)
		}
		if r.Age <= 1 {
			u.Week.add(added)
		}
	}
	for i := range u.Games {
		g := &u.Games[i]
		n := float64(g.Matches)
		g.Replays, g.Logs, g.UnpackedBytes, g.Rows = g.Replays/n, g.Logs/n, g.UnpackedBytes/n, rows/matches
		g.Bytes = g.Replays + g.Logs + g.Rows
	}
	if u.Day.Uploads, err = s.uploadedSince(ctx, day); err != nil {
		return err
	}
	u.Week.Uploads, err = s.uploadedSince(ctx, week)
	return err
}

// add adds the numbers of row r to g. The sizes in g are sums; gameUsage divides them by the number of matches at the
// end.
func (g *GameUsage) add(r queries.UsageByGameRow) {
	g.Matches += r.Matches
	g.Games += r.Games
	g.Replays += float64(r.Replays)
	g.Logs += float64(r.Logs)
	g.UnpackedBytes += float64(r.Unpacked)
}

func (g *Growth) add(more Growth) {
	g.Matches += more.Matches
	g.Bytes += more.Bytes
}

// uploadedSince returns the size, in bytes, of the uploads that were first received at the given time or later.
func (s *Store) uploadedSince(ctx context.Context, since time.Time) (total int64, err error) {
	hashes, err := s.read.UploadsSince(ctx, stamp(since))
	if err != nil {
		return 0, err
	}
	for _, h := range hashes {
		path, err := s.dir.Bundle(h)
		if err != nil {
			continue // a version without an upload
		}
		bytes, _, err := trees.Size(path)
		if err != nil {
			return 0, unavailable("look at the directory and its rights", "data: an upload cannot be looked at: %w", err)
		}
		total += bytes
	}
	return total, nil
}
