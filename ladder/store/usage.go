package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder/datadir"
)

// Usage is what the database has in bytes.
type Usage struct {
	At     time.Time
	Bytes  int64 // of its files, what is not in use yet included
	Free   int64 // of its pages that are not in use: new matches take them first
	Tables []TableUsage
	Games  []GameUsage
	// First is when the first match finished; zero: none has.
	First     time.Time
	Day, Week Growth
}

// TableUsage is a table or an index, as it stands in the pages of the database.
type TableUsage struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // "" for the table itself
	Bytes int64  `json:"bytes"`
}

// GameUsage is what the matches of a game take. The bytes are those of a match on average.
type GameUsage struct {
	Game     string  `json:"game"`
	Matches  int64   `json:"matches"` // that have finished
	Games    int64   `json:"games"`
	Bytes    float64 `json:"bytes"`   // of the replays, logs and rows
	Replays  float64 `json:"replays"` // compressed, wherever they are
	Logs     float64 `json:"logs"`
	Rows     float64 `json:"rows"`     // of all else that the database has of a match, its indexes included
	Unpacked float64 `json:"unpacked"` // of the replays and logs, before they were compressed
}

// Growth is what has come within some time.
type Growth struct {
	Matches int64 `json:"matches"`
	Bytes   int64 `json:"bytes"`   // of these matches
	Uploads int64 `json:"uploads"` // bytes of uploads
}

// Usage measures the database. It reads all of it, beside a server, too, which goes on meanwhile.
func (s *Store) Usage(ctx context.Context) (u Usage, err error) {
	u.At = s.now()
	if u.Bytes, err = s.fileBytes(); err != nil {
		return u, err
	}
	if u.Tables, err = s.tableUsage(ctx); err != nil {
		return u, explain(undone(ctx, err))
	}
	var pages, size int64
	err = s.readers.QueryRowContext(ctx, "SELECT * FROM pragma_freelist_count, pragma_page_size").Scan(&pages, &size)
	if err == nil {
		u.Free = pages * size
		err = s.gameUsage(ctx, &u)
	}
	return u, explain(undone(ctx, err))
}

// fileBytes returns the size of the database with the files that SQLite keeps beside it.
func (s *Store) fileBytes() (total int64, err error) {
	for _, end := range []string{"", "-wal", "-shm"} {
		bytes, err := datadir.Size(s.dir.Database() + end)
		if err != nil {
			return 0, unavailable("check the directory, its owner and its permissions", "data: the database cannot be looked at: %w", err)
		}
		total += bytes
	}
	return total, nil
}

// tableUsage returns the bytes of all tables and indexes, the largest first.
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

// counted is what there is of a game.
type counted struct {
	matches, day, week          int64
	games                       int64
	replays, logs, unpacked     int64 // bytes
	dayDocuments, weekDocuments int64
}

// gameUsage counts matches and their documents by game.
func (s *Store) gameUsage(ctx context.Context, u *Usage) error {
	day, week := u.At.Add(-24*time.Hour), u.At.Add(-7*24*time.Hour)
	games := map[string]*counted{}
	matches, err := s.read.MatchesByGame(ctx, stamp(day), stamp(week))
	if err != nil {
		return err
	}
	for _, r := range matches {
		games[r.Game] = &counted{matches: r.Matches, games: r.Games, day: r.Day, week: r.Week}
	}
	inside, err := s.countDocuments(ctx, games, stamp(day), stamp(week))
	if err != nil {
		return err
	}
	rowBytes(u, games, inside)
	first, err := s.read.FirstMatch(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	u.First = nullMoment(first)
	if u.Day.Uploads, err = s.uploadedSince(ctx, day); err != nil {
		return err
	}
	u.Week.Uploads, err = s.uploadedSince(ctx, week)
	return err
}

// countDocuments adds the documents, and returns how many bytes of them are in the database. A match that
// begins meanwhile is left out.
func (s *Store) countDocuments(ctx context.Context, games map[string]*counted, day, week int64) (inside int64, err error) {
	rows, err := s.read.DocumentsByGame(ctx, day, week)
	for _, r := range rows {
		inside += r.Inside
		c := games[r.Game]
		if c == nil {
			continue
		}
		if r.Kind == replaysKind {
			c.replays = r.Bytes
		} else {
			c.logs = r.Bytes
		}
		c.unpacked += r.Unpacked
		c.dayDocuments += r.Day
		c.weekDocuments += r.Week
	}
	return inside, err
}

// rowBytes shares what the tables take among the matches.
func rowBytes(u *Usage, games map[string]*counted, inside int64) {
	var rows, matches float64
	for _, t := range u.Tables {
		switch t.Table {
		case "matches", "settings", "match_slots", "attempts", "changes", "documents", "results", "fingerprints":
			rows += float64(t.Bytes)
		}
	}
	for _, c := range games {
		matches += float64(c.matches)
	}
	for name, c := range games {
		n := float64(c.matches)
		g := GameUsage{
			Game: name, Matches: c.matches, Games: c.games,
			Replays: float64(c.replays) / n, Logs: float64(c.logs) / n, Unpacked: float64(c.unpacked) / n,
			Rows: max(0, rows-float64(inside)) / matches,
		}
		g.Bytes = g.Replays + g.Logs + g.Rows
		u.Games = append(u.Games, g)
		u.Day.Matches += c.day
		u.Day.Bytes += c.dayDocuments + int64(g.Rows*float64(c.day))
		u.Week.Matches += c.week
		u.Week.Bytes += c.weekDocuments + int64(g.Rows*float64(c.week))
	}
	slices.SortFunc(u.Games, func(a, b GameUsage) int { return cmp.Compare(a.Game, b.Game) })
}

// uploadedSince returns the bytes of the uploads that came first at a time or later.
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
		bytes, err := datadir.Size(path)
		if err != nil {
			return 0, unavailable("look at the directory and its rights", "data: an upload cannot be looked at: %w", err)
		}
		total += bytes
	}
	return total, nil
}
