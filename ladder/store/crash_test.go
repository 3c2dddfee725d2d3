//go:build !race || slowrace

package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// TestKilledAfterEachCall checks that a server killed after a call leaves exactly what the calls have reported.
// It copies the files of the server while they are open.
func TestKilledAfterEachCall(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	finished := 0
	left := func(what string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "data")
		kit.Must(t, os.CopyFS(dir, os.DirFS(string(c.Dir()))))
		next := openStore(t, dir)
		wantSound(t, next.Store)
		if n := next.countRows(finishedMatches); n != finished {
			t.Errorf("%s: %d matches are finished, want %d", what, n, finished)
		}
		if n := len(next.storedDocuments()); n != finished {
			t.Errorf("%s: %d of %d matches have replays", what, n, finished)
		}
		kit.Must(t, next.Close())
	}
	for range 2 {
		m, seed := c.startRatedMatch("tebes-4", ids...)
		if finished == 0 {
			left("begun")
		}
		_, err := c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), playMatch(t, m, seed))
		kit.Must(t, err)
		finished++
	}
	left("finished")
	c.clock.skip(2 * day)
	_, err := c.MoveDocuments(bg, ladder.Storage{Days: 1})
	kit.Must(t, err)
	left("all are moved")
}

// finishedMatches selects the rows of finished matches.
const finishedMatches = "matches WHERE state = 'finished'"
