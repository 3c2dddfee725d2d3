package store

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
)

// busy returns a competition with matches of every kind: rated on every ladder, broken
// off, dropped, unrated, with a bot that comes, has a new version and is benched.
func busy(tb testing.TB) *competition {
	c := newCompetition(tb)
	anna, err := c.AddPerson(bg, "anna", false)
	kit.Must(tb, err)
	berta, err := c.AddPerson(bg, "berta", false)
	kit.Must(tb, err)
	house := c.ids("@random", "@first", "@greedy")
	a := c.live(anna.ID, "anna-bot")
	b := c.live(berta.ID, "berta-bot")
	c.finished("tebes-4", house[0], a.ID)
	c.finished("tute-4", a.ID, house[1], b.ID, house[2])
	c.finished("brisca-4-teams", b.ID, house[1], house[0], a.ID)
	m, _ := c.begun("tebes-4", a.ID, b.ID)
	_, err = c.Break(bg, m.ID, c.last(m.ID), "the referee failed", true)
	kit.Must(tb, err)
	seed := c.attempt(m)
	_, err = c.Finish(bg, m.ID, c.last(m.ID), playMatch(tb, m, seed))
	kit.Must(tb, err)
	a2 := c.live(anna.ID, "anna-bot")
	c.finished("tebes-4", a2.ID, b.ID)
	c.begun("tebes-4", house[1], b.ID) // and runs on
	_, err = c.Bench(bg, b.ID, "too many faults")
	kit.Must(tb, err)
	c.finished("tebes-4", a2.ID, house[2])
	u := c.unrated(anna.ID, a2.ID, a.ID)
	_, err = c.Finish(bg, u.ID, 1, playMatch(tb, u, c.attempt(u)))
	kit.Must(tb, err)
	return c
}

func (c *competition) unrated(by int64, versions ...int64) ladder.Match {
	c.tb.Helper()
	l := testLadders(c.tb)[0]
	m, err := c.AddMatch(bg, NewMatch{Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: 1, Versions: versions, AskedBy: by})
	kit.Must(c.tb, err)
	return m
}

func wantSound(tb testing.TB, s *Store) {
	tb.Helper()
	found := kit.Get[[]Difference](tb)(s.Verify(bg, nil))
	for _, d := range found {
		tb.Errorf("verify: %s", d)
	}
}

func TestVerifySoundRaced(t *testing.T) {
	t.Parallel()
	c := busy(t)
	var last, total int64
	found := kit.Get[[]Difference](t)(c.Verify(bg, func(done, all int64) { last, total = done, all }))
	for _, d := range found {
		t.Errorf("verify: %s", d)
	}
	if last != total || total != 10 { // 7 finished matches, 3 uploads
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

// Every kind of damage is found and named.
func TestVerifyDamage(t *testing.T) {
	t.Parallel()
	for _, d := range []struct{ name, sql, where, what string }{
		{"elo", "UPDATE entries SET elo = elo + 1e-12 * elo WHERE version_id = (SELECT version_id FROM entries WHERE matches > 0 AND held = 0 ORDER BY version_id LIMIT 1)", "ladder ", "its Elo is "},
		{"start", "UPDATE entries SET start = 1100 WHERE predecessor IS NOT NULL", "ladder ", "it started at Elo 1100"},
		{"sums", "UPDATE entries SET wins = wins + 1, losses = losses - 1 WHERE losses > 0", "ladder ", "its sums are wins "},
		{"pairs", "UPDATE pairs SET score = score + 0.25", "ladder ", "the counts of versions "},
		{"pairs too many", "INSERT INTO pairs SELECT ladder_id, min(version_id), max(version_id), 1, 1, 0.5, 0.25, 0, 0, 0 FROM entries WHERE matches = 0 GROUP BY ladder_id HAVING count(*) > 1", "ladder ", "have counts and no match"},
		{"pairs too few", "DELETE FROM pairs WHERE a = (SELECT min(a) FROM pairs)", "ladder ", "have matches and no counts"},
		{"change", "UPDATE changes SET k = k + 1", "match 1", "slot 0: the change is K "},
		{"no change", "DELETE FROM changes WHERE match_id = 1 AND slot = 1", "match 1", "it has moved 1 versions, not its 2"},
		{"order", "UPDATE matches SET ord = ord + 10 WHERE id = 5", "ladder tebes-4", "no match has order "},
		{"finished", "UPDATE ladders SET finished = finished + 1 WHERE name = 'tute-4'", "ladder tute-4", "it has finished 2 matches, and the last one has order 1"},
		{"fit", "INSERT INTO fits SELECT id, 99, 0 FROM ladders WHERE name = 'tute-4'", "ladder tute-4", "the fit is of 99 matches, and there are 1"},
		{"seat", "UPDATE game_seats SET points = points + 1 WHERE game_id = 1 AND seat = 0", "match 1, deal 0, rotation 0", "seat 0 is points "},
		{"fingerprint", "UPDATE games SET fingerprint = zeroblob(16) WHERE id = 1", "match 1, deal 0, rotation 0", "the fingerprint is "},
		{"deals that count", "UPDATE matches SET distinct_deals = 0 WHERE id = 1", "match 1", "0 of its deals count where its games give "},
		{"plies", "UPDATE games SET plies = plies + 1 WHERE id = 1", "match 1, deal 0, rotation 0", "plies where the replay has"},
		{"no game", "DELETE FROM game_seats WHERE game_id = 1; DELETE FROM games WHERE id = 1", "match 1", "there are 3 games, not 2 deals in 2 rotations"},
		{"no replays", "DELETE FROM documents WHERE match_id = 1", "match 1, deal 0, rotation 0", "the replay is missing"},
		{"damaged replays", "UPDATE documents SET data = zeroblob(99) WHERE match_id = 1 AND kind = 'replays'", "match 1", "replays have the SHA-256 "},
		{"size of the replays", "UPDATE documents SET size = size - 1 WHERE match_id = 1 AND kind = 'replays'", "match 1", "bytes, and had "},
		{"damaged logs", "UPDATE documents SET hash = zeroblob(32) WHERE match_id = 1 AND kind = 'logs'", "match 1", "logs have the SHA-256 "},
		{"replays of another match", "UPDATE documents SET (size, hash, data) = (SELECT size, hash, data FROM documents WHERE match_id = 2 AND kind = 'replays') WHERE match_id = 1 AND kind = 'replays'", "match 1, deal 0, rotation 0", "the replay does not have the seed of attempt 1"},
		{"no archive", "INSERT INTO archives (id, hash, size, created) VALUES (1, zeroblob(32), 10, 0); UPDATE documents SET data = NULL, archive_id = 1, start = 0, length = 10 WHERE match_id = 1 AND kind = 'replays'", "archive file 0000000000000000000000000000000000000000000000000000000000000000, with the replays and logs of 1 matches", "it is missing"},
		{"old: no replay", "DELETE FROM replays WHERE game_id = 1", "match 1, deal 0, rotation 0", "the replay is missing"},
		{"old: replay", "UPDATE replays SET data = x'28b52ffd00' WHERE game_id = 1", "match 1", "replays of deal 0, rotation 0: compressed data are damaged"},
		{"old: replays swapped", "UPDATE replays SET data = (SELECT data FROM replays WHERE game_id = 2), size = (SELECT size FROM replays WHERE game_id = 2) WHERE game_id = 1", "match 1, deal 0, rotation 0", "the replay is of deal 0, rotation 1"},
		{"seed", "UPDATE attempts SET seed = zeroblob(32) WHERE match_id = 1", "match 1, attempt 1", "the commitment is "},
		{"seed of the replay", "UPDATE attempts SET seed = zeroblob(32) WHERE match_id = 1", "match 1, deal 0, rotation 0", "the replay does not have the seed of attempt 1"},
		{"options", "UPDATE matches SET options = json_set(options, '$.board', 'random') WHERE id = 1", "match 1, deal 0, rotation 0", "the replay is of tebes "},
		{"who played", "UPDATE versions SET hash = bundle WHERE bundle > ''", "match 1, deal 0, rotation 0", "ran "},
		{"games of a running match", "INSERT INTO games (match_id, deal, rotation, plies, took) SELECT id, 0, 0, 1, 1 FROM matches WHERE state = 'running'", "match ", "it is not finished and has games"},
		{"took", "UPDATE matches SET took = took + 1 WHERE id = 1", "match 1", "it took "},
		{"a reference", "PRAGMA foreign_keys = 0; INSERT INTO messages (person_id, text, created) VALUES (99, '', 0); PRAGMA foreign_keys = 1", "database", "row 2 of messages refers to nothing in people"},
		{"unrated", "UPDATE game_seats SET rank = 3 - rank WHERE game_id IN (SELECT games.id FROM games JOIN matches ON matches.id = match_id WHERE matches.ladder_id IS NULL)", "match ", "seat 0 is rank "},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			c := template(t)
			if strings.HasPrefix(d.name, "old: ") {
				c.unpack()
			}
			if _, err := c.writer.db.Exec(d.sql); err != nil {
				t.Fatal(err)
			}
			found := kit.Get[[]Difference](t)(c.Verify(bg, nil))
			for _, f := range found { // for people, not as Go has it
				if strings.ContainsAny(f.What, "{}") {
					t.Errorf("it says %s", f)
				}
			}
			for _, f := range found {
				if strings.HasPrefix(f.Where, d.where) && strings.Contains(f.What, d.what) {
					return
				}
			}
			t.Errorf("found %v, want %s: %s", found, d.where, d.what)
		})
	}
}

func TestVerifyUploads(t *testing.T) {
	t.Parallel()
	c := template(t)
	hashes := kit.Get[[]string](t)(c.Bundles(bg))
	path := filepath.Join(c.Dir().Bundles(), hashes[0])
	kit.Must(t, os.WriteFile(path, []byte("another"), 0o600))
	found := kit.Get[[]Difference](t)(c.Verify(bg, nil))
	if len(found) != 1 || !strings.Contains(found[0].String(), "the file has the SHA-256 ") {
		t.Errorf("found %v", found)
	}
	kit.Must(t, os.Remove(path))
	found = kit.Get[[]Difference](t)(c.Verify(bg, nil))
	if want := "upload " + hashes[0] + ": it is missing"; len(found) != 1 || found[0].String() != want {
		t.Errorf("found %v, want %s", found, want)
	}
}

// A page of the file overwritten: whatever SQLite keeps there, it is noticed and
// nothing panics.
func TestVerifyDamagedPages(t *testing.T) {
	t.Parallel()
	c := template(t)
	dir := string(c.Dir())
	kit.Must(t, c.Close())
	path := datadir.Dir(dir).Database()
	whole := kit.Get[[]byte](t)(os.ReadFile(path))
	r := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		broken := append([]byte{}, whole...)
		at := 4096 * (1 + r.IntN(len(whole)/4096-1))
		for i := range 4096 {
			broken[at+i] ^= byte(r.Uint32() | 1)
		}
		kit.Must(t, os.WriteFile(path, broken, 0o600))
		s, err := Open(dir, Options{ReadOnly: true})
		if err != nil {
			if ladder.CodeOf(err) != ladder.Unavailable {
				t.Errorf("page %d: open says %v", at/4096, err)
			}
			continue
		}
		found, err := s.Verify(bg, nil)
		if len(found) == 0 {
			t.Errorf("page %d: nothing is found, error %v", at/4096, err)
		}
		kit.Must(t, s.Close())
	}
}
