//go:build !race || slowrace

package store

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/ladder"
)

// TestUsage checks that the numbers of Usage are consistent: the tables fill the file, the documents have their
// stored sizes before and after a move, and the games add up to the tables.
func TestUsage(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	_, err := c.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	kit.Must(t, err)
	c.clock.skip(time.Hour) // so that the matches are older
	before, err := c.Usage(bg)
	kit.Must(t, err)
	info, err := os.Stat(c.Dir().Database())
	kit.Must(t, err)
	var tables, matchTables, documents int64
	for _, u := range before.Tables {
		tables += u.Bytes
		switch u.Table {
		case "matches", "match_slots", "attempts", "changes", "documents", "settings", "results", "fingerprints":
			matchTables += u.Bytes
		}
	}
	if tables+before.UnusedBytes != info.Size() {
		t.Errorf("the tables have %d bytes and %d are free, of %d", tables, before.UnusedBytes, info.Size())
	}
	kit.Must(t, c.readers.QueryRow("SELECT sum(length(data)) FROM documents").Scan(&documents))
	total, matches, stored := 0.0, int64(0), 0.0
	for _, g := range before.Games {
		n := float64(g.Matches)
		total, matches = total+g.Bytes*n, matches+g.Matches
		stored += (g.Replays + g.Logs) * n
		if g.Replays <= 0 || g.Rows <= 0 || g.UnpackedBytes <= g.Replays || g.Games < g.Matches {
			t.Errorf("%+v", g)
		}
	}
	if math.Abs(total-float64(matchTables)) > 1 || math.Abs(stored-float64(documents)) > 1 {
		t.Errorf("the games have %.1f bytes, %.1f of documents; their tables have %d, %d of documents", total, stored, matchTables, documents)
	}
	if n := c.countRows(finishedMatches); matches != int64(n) || before.Day.Matches != matches || before.Week.Matches != matches {
		t.Errorf("%d matches, %+v, %+v; there are %d", matches, before.Day, before.Week, n)
	}
	if math.Abs(float64(before.Day.Bytes)-total) > float64(len(before.Games)+1) || before.FirstMatchAt.IsZero() || before.FirstMatchAt.After(before.MeasuredAt) {
		t.Errorf("a day has %+v of %.1f bytes since %v", before.Day, total, before.FirstMatchAt)
	}

	c.clock.skip(3 * day)
	would, err := c.EstimateMove(bg, ladder.Storage{Days: 1})
	kit.Must(t, err)
	if would.Bytes != documents || would.Matches != len(c.storedDocuments()) || len(c.archivedMatches()) > 0 || len(c.archiveFiles()) > 0 {
		t.Errorf("%+v would be moved of %d bytes; %v are", would, documents, c.archivedMatches())
	}
	if full, err := c.EstimateMove(bg, ladder.Storage{Days: 1, Size: size.Bytes(documents - 1)}); err != nil || !full.Full || full.Matches != would.Matches {
		t.Errorf("into an archive that is too small: %+v, %v", full, err)
	}
	done, err := c.MoveDocuments(bg, ladder.Storage{Days: 1})
	kit.Must(t, err)
	if would.Files = done.Files; done != would {
		t.Errorf("%+v are moved, and %+v would be", done, would)
	}
	after, err := c.Usage(bg)
	kit.Must(t, err)
	if after.Day.Matches != 0 || after.Day.Bytes != 0 || after.Week.Matches != matches {
		t.Errorf("days later there are %+v and %+v", after.Day, after.Week)
	}
	for i, g := range after.Games {
		if was := before.Games[i]; g.Replays != was.Replays || g.Logs != was.Logs || g.UnpackedBytes != was.UnpackedBytes {
			t.Errorf("moved, a match is %+v, and was %+v", g, was)
		}
	}
}

// TestUsageWithoutMatches checks the usage of a competition without matches.
func TestUsageWithoutMatches(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	u := kit.Get[DiskUsage](t)(c.Usage(bg))
	if u.Bytes == 0 || len(u.Tables) < 10 || len(u.Games) > 0 || !u.FirstMatchAt.IsZero() || u.Week != (Growth{}) || u.MeasuredAt.IsZero() {
		t.Errorf("%+v", u)
	}
}
