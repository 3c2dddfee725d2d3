//go:build !race || slowrace

package store

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// TestVerifyLists checks that the list of differences is bounded and says how many it leaves out.
func TestVerifyLists(t *testing.T) {
	var all, part findings
	for i := range maxFindings {
		part.report("results", "%d", i)
	}
	all.addAll(part)
	if list := all.differences(); len(list) != maxFindings {
		t.Errorf("%d differences are listed, want all", len(list))
	}
	all.addAll(part)
	list := all.differences()
	want := Difference{"verification", "10000 more differences are not listed"}
	if len(list) != maxFindings+1 || list[maxFindings] != want || list[maxFindings-1].Description != "9999" {
		t.Errorf("%d differences are listed, the last one %s, want %s", len(list), list[len(list)-1], want)
	}
}

// TestVerifyDamage checks that every kind of damage is found and described.
func TestVerifyDamage(t *testing.T) {
	t.Parallel()
	const (
		broken = "(SELECT match_id FROM attempts WHERE failed = 1)"
	)
	for _, d := range []struct{ name, sql, where, what string }{
		{"elo", "UPDATE entries SET elo = elo + 1e-12 * elo WHERE version_id = (SELECT version_id FROM entries WHERE matches > 0 AND held = 0 ORDER BY version_id LIMIT 1)", "entries ladder_id=", "elo is "},
		{"start", "UPDATE entries SET start = 1100 WHERE predecessor IS NOT NULL", "entries ladder_id=", "start is 1100 where "},
		{"sums", "UPDATE entries SET wins = wins + 1, losses = losses - 1 WHERE losses > 0", "entries ladder_id=", "wins is "},
		{"the anchor", "UPDATE entries SET held = 1 - held WHERE ladder_id = 1", "entries ladder_id=1 version_id=", "held is "},
		{"who plays", "UPDATE entries SET active = 1 - active WHERE ladder_id = 1", "entries ladder_id=1 version_id=", "active is "},
		{"no predecessor", "UPDATE entries SET predecessor = NULL WHERE predecessor IS NOT NULL", "entries ladder_id=", `it has no predecessor, and another version of "anna-bot" came before it`},
		{"another's predecessor", "UPDATE entries SET predecessor = (SELECT min(version_id) FROM entries) WHERE predecessor IS NOT NULL", "entries ladder_id=", `its predecessor is of "@`},
		{"pairs", "UPDATE pairs SET score = score + 0.25", "pairs ladder_id=1 a=", "score is "},
		{"pairs too many", "INSERT INTO pairs SELECT ladder_id, min(version_id), max(version_id), 1, 1, 0.5, 0.25, 0, 0, 0 FROM entries WHERE matches = 0 GROUP BY ladder_id HAVING count(*) > 1", "pairs ladder_id=", "it is stored, and follows from nothing"},
		{"pairs too few", "DELETE FROM pairs WHERE a = (SELECT min(a) FROM pairs)", "pairs ladder_id=", "it is missing"},
		{"change", "UPDATE changes SET k = k + 1", "changes match_id=1 slot=0", "k is "},
		{"no change", "DELETE FROM changes WHERE match_id = 1 AND slot = 1", "changes match_id=1 slot=1", "it is missing"},
		{"order", "UPDATE results SET ord = ord + 10 WHERE match_id = 5", "results id=", "ord is "},
		{"order beyond the last", "UPDATE results SET ord = 99 WHERE match_id = 2", "results id=", "ord is 99 where 1 is due"},
		{"finished", "UPDATE ladders SET finished = finished + 1 WHERE name = 'tute-4'", "ladders id=3", "finished is 2 where 1 is due"},

		{"no result", "DELETE FROM results WHERE match_id = 1", "results id=1", "it is missing"},
		{"no result of an unrated match", "DELETE FROM results WHERE ladder_id IS NULL", "results id=", "it is missing"},
		{"a result of a running match", "UPDATE results SET match_id = (SELECT id FROM matches WHERE state = 'running') WHERE match_id = 1", "results id=1", "match_id is "},
		{"the result of another match", "UPDATE results SET data = (SELECT data FROM results WHERE match_id = 2) WHERE match_id = 1", "results match_id=1 deal=0 rotation=0", "plies is "},
		{"a damaged result", "UPDATE results SET data = zeroblob(99) WHERE match_id = 1", "results match_id=1", "the result: compressed data are damaged"},
		{"the number of games", "UPDATE results SET games = games + 1 WHERE match_id = 1", "results id=1", "games is 5 where 4 is due"},
		{"the ID of a result", "UPDATE results SET id = id + 1 WHERE id = (SELECT max(id) FROM results)", "results id=", "follows from nothing"},
		{"result of another ladder", "UPDATE results SET ladder_id = 2, ord = 2 WHERE match_id = 1; UPDATE ladders SET finished = 2 WHERE id = 2", "results id=1", "ladder_id is 2 where 1 is due"},
		{"fingerprint", "UPDATE fingerprints SET fingerprint = fingerprint + 1 WHERE ord = 1", "fingerprints ladder_id=1 fingerprint=", "it is missing"},
		{"no fingerprint", "DELETE FROM fingerprints WHERE ord = 1", "fingerprints ladder_id=1 fingerprint=", "it is missing"},
		{"a fingerprint too many", "INSERT INTO fingerprints VALUES (1, 77, 1)", "fingerprints ladder_id=1 fingerprint=77", "it is stored, and follows from nothing"},
		{"fingerprint of a later match", "UPDATE fingerprints SET ord = 2 WHERE ord = 1", "fingerprints ladder_id=1 fingerprint=", "ord is 2 where 1 is due"},
		{"fingerprint of an earlier match", "UPDATE fingerprints SET ord = 1 WHERE ord = 2", "fingerprints ladder_id=1 fingerprint=", "ord is 1 where 2 is due"},
		{"deals that count", "UPDATE results SET distinct_deals = 0 WHERE match_id = 1", "results id=1", "distinct_deals is 0 where "},
		{"no deals that count", "PRAGMA ignore_check_constraints = 1; UPDATE results SET distinct_deals = NULL WHERE match_id = 1; PRAGMA ignore_check_constraints = 0", "results id=1", "distinct_deals is none where "},
		{"no replays", "DELETE FROM documents WHERE match_id = 1", "documents match_id=1 deal=0 rotation=0", "the replay is missing"},
		{"damaged replays", "UPDATE documents SET data = zeroblob(99) WHERE match_id = 1 AND kind = 'replays'", "documents match_id=1 kind=replays", "replays have the SHA-256 "},
		{"size of the replays", "UPDATE documents SET size = size - 1 WHERE match_id = 1 AND kind = 'replays'", "documents match_id=1 kind=replays", "bytes, and had "},
		{"damaged logs", "UPDATE documents SET hash = zeroblob(32) WHERE match_id = 1 AND kind = 'logs'", "documents match_id=1 kind=logs", "logs have the SHA-256 "},
		{"replays of another match", "UPDATE documents SET (size, hash, data) = (SELECT size, hash, data FROM documents WHERE match_id = 2 AND kind = 'replays') WHERE match_id = 1 AND kind = 'replays'", "documents match_id=1 deal=0 rotation=0 seat=0", `"anna-bot/1" sat there by the replay, and "@random" by the version`},
		{"logs of another match", "UPDATE documents SET (size, hash, data) = (SELECT size, hash, data FROM documents WHERE match_id = 1 AND kind = 'logs') WHERE match_id = 2 AND kind = 'logs'", "documents match_id=2 deal=1 rotation=1", "the logs have one of seat 0, which there is not"},
		{"no archive", "INSERT INTO archives (id, hash, size, created) VALUES (1, zeroblob(32), 10, 0); UPDATE documents SET data = NULL, archive_id = 1, start = 0, length = 10 WHERE match_id = 1 AND kind = 'replays'", "archive file 0000000000000000000000000000000000000000000000000000000000000000, with the replays and logs of 1 matches", "it is missing"},
		{"seed of the replay", "UPDATE attempts SET seed = zeroblob(32) WHERE match_id = 1", "matches id=1", "the replay is not of attempt 1: it has another seed"},
		{"results exchanged", "UPDATE results SET id = -id WHERE id IN (1, 2); UPDATE results SET id = 3 + id WHERE id < 0", "results id=1", "match_id is 2 where 1 is due"},
		{"results of unrated matches exchanged", "UPDATE results SET id = -id WHERE id IN (1, 7); UPDATE results SET id = 8 + id WHERE id < 0", "results id=1", "match_id is "},
		{"an attempt too many", "INSERT INTO attempts SELECT match_id, 2, seed, began, ended, reason, failed, machine FROM attempts WHERE match_id = 1", "attempts match_id=1 number=1", "it was not broken off, and another one follows"},
		{"an attempt twice", "INSERT INTO attempts SELECT match_id, 2, seed, began, ended, reason, failed, machine FROM attempts WHERE match_id = 1", "attempts match_id=1 number=2", "it has the seed of attempt 1"},
		{"an attempt too few", "DELETE FROM attempts WHERE number = 1 AND match_id = " + broken, "attempts match_id=", "number is 2 where 1 is due"},
		{"no attempt", "DELETE FROM attempts WHERE match_id = 1", "matches id=1", "it is finished and was never begun"},
		{"the end of an attempt", "UPDATE attempts SET ended = ended + 1 WHERE match_id = 1", "attempts match_id=1 number=1", "ended is "},
		{"the beginning of an attempt", "UPDATE attempts SET began = began + 1 WHERE match_id = 1", "attempts match_id=1 number=1", "began is "},
		{"a failed attempt that counts", "UPDATE attempts SET failed = 1 WHERE match_id = 1", "attempts match_id=1 number=1", "failed is 1 where 0 is due"},
		{"the attempt of a running match", "UPDATE attempts SET ended = began WHERE match_id = (SELECT id FROM matches WHERE state = 'running')", "attempts match_id=", "it runs, and it has the end "},
		{"options", "UPDATE settings SET options = json_set(options, '$.board', 'random') WHERE id = (SELECT settings_id FROM matches WHERE id = 1)", "matches id=1", "the replay's options are board=standard "},
		{"clock", "UPDATE settings SET clock = json_set(clock, '$.margin', 1000) WHERE id = (SELECT settings_id FROM matches WHERE id = 1)", "matches id=1", "the replay's clock is movetime=60000 bank=0 inc=0 margin=50, the match's movetime=60000 bank=0 inc=0 margin=1000"},
		{"why it ended", "UPDATE matches SET reason = 'ended early' WHERE id = 1", "matches id=1", `reason is "ended early" where "" is due`},
		{"who played", "UPDATE versions SET hash = bundle WHERE bundle > ''", "documents match_id=1 deal=0 rotation=0 seat=1", "ran by the replay"},
		{"who played an unrated match", "UPDATE match_slots SET (version_id, bot_id) = (SELECT version_id, bot_id FROM match_slots WHERE match_id = 1 AND slot = 0) WHERE slot = 0 AND match_id IN (SELECT id FROM matches WHERE ladder_id IS NULL)", "documents match_id=", `"anna-bot/2" sat there by the replay, and "@random" by the version`},
		{"replays of a running match", "INSERT INTO documents SELECT matches.id, kind, size, hash, data, archive_id, start, length FROM documents JOIN matches WHERE match_id = 1 AND matches.state = 'running'", "documents match_id=", "the match is running, and has replays or logs"},
		{"changes of an unrated match", "INSERT INTO changes SELECT match_slots.match_id, match_slots.slot, entries.ladder_id, entries.version_id, 99, 0, 0, 0, 0, 0, 0 FROM match_slots JOIN matches ON matches.id = match_id JOIN entries ON entries.version_id = match_slots.version_id WHERE matches.ladder_id IS NULL AND slot = 0 AND entries.ladder_id = 1", "changes match_id=", "it is stored, and follows from nothing"},
		{"took", "UPDATE results SET took = took + 1 WHERE match_id = 1", "results id=1", "took is "},
		{"a reference", "PRAGMA foreign_keys = 0; INSERT INTO messages (person_id, kind, bot, number, reason, created) VALUES (99, 'failed', '', 0, '', 0); PRAGMA foreign_keys = 1", "database", "row 2 of messages refers to nothing in people"},
		{"the winner of a person's game", "UPDATE play_seats SET (wins, losses) = (losses, wins) WHERE play_id = 'game-a' AND seat = 0", "play_seats play_id=game-a seat=0", " is "},
		{"no winner of a person's game", "UPDATE play_seats SET ended = NULL WHERE play_id = 'game-a' AND seat = 0", "play_seats play_id=game-a seat=0", "ended is none where "},
		{"the record of a bot", "UPDATE play_seats SET (wins, losses) = (losses, wins) WHERE play_id = 'game-a' AND seat = 1", "play_seats play_id=game-a seat=1", " is "},
		{"when a bot's game ended", "UPDATE play_seats SET ended = ended + 1 WHERE play_id = 'game-a' AND seat = 1", "play_seats play_id=game-a seat=1", "ended is "},
		{"a partner's record", "UPDATE play_seats SET wins = 1 WHERE play_id = 'game-b' AND seat = 3", "play_seats play_id=game-b seat=3", "wins is 1 where 0 is due"},
		{"a bot too few", "DELETE FROM play_seats WHERE play_id = 'game-b' AND seat = 3", "plays id=game-b", "3 people and bots are not at 4 seats"},
		{"another bot", "UPDATE play_seats SET (version_id, bot_id) = (SELECT version_id, bot_id FROM play_seats WHERE play_id = 'game-c' AND seat = 0) WHERE play_id = 'game-a' AND seat = 1", "plays id=game-a seat=1", `"@greedy" sat there by the replay, and "@random" by the version`},
		{"another person", "UPDATE play_seats SET person_id = (SELECT id FROM people WHERE name = 'berta') WHERE play_id = 'game-a' AND seat = 0", "plays id=game-a seat=0", `"anna" sat there by the replay, and "berta" by the database`},
		{"a guest", "UPDATE play_seats SET person_id = NULL WHERE play_id = 'game-a' AND seat = 0", "plays id=game-a seat=0", `"anna" sat there by the replay, and "guest" by the database`},
		{"the seat of a person", "UPDATE plays SET opener = 1 - opener WHERE id = 'game-a'", "plays id=game-a", "no person is at seat 1, from which the table was opened"},
		{"no replay of a person's game", "PRAGMA ignore_check_constraints = 1; UPDATE plays SET replay = NULL WHERE id = 'game-a'; PRAGMA ignore_check_constraints = 0", "plays id=game-a", "not a replay document"},
		{"a byte of a person's game", "UPDATE plays SET replay = CAST(substr(replay, 1, 50) || x'00' || substr(replay, 52) AS BLOB) WHERE id = 'game-a'", "plays id=game-a", "compressed data are damaged"},
		{"the replay of another game", "UPDATE plays SET replay = (SELECT replay FROM plays WHERE id = 'game-b') WHERE id = 'game-a'", "plays id=game-a", "2 people and bots are not at 4 seats"},
		{"the commitment of a person's game", "UPDATE plays SET commitment = 'x' WHERE id = 'game-a'", "plays id=game-a", "commitment is "},
		{"the options of a person's game", "UPDATE plays SET options = json_set(options, '$.board', 'random') WHERE id = 'game-a'", "plays id=game-a", "the options are "},
		{"a person's game that is not finished", "UPDATE plays SET state = 'broken', broken = 'stop', replay = NULL WHERE id = 'game-a'", "play_seats play_id=game-a seat=1", "ended is "},
		{"the result of an open game", "UPDATE play_seats SET wins = 1 WHERE play_id = 'game-d'", "play_seats play_id=game-d seat=0", "wins is 1 where 0 is due"},
		{"the rating of a person", "UPDATE person_ratings SET rating = rating + 1 WHERE person_id = (SELECT id FROM people WHERE name = 'anna')", "person_ratings game=tebes person_id=", "rating is "},
		{"no rating", "DELETE FROM person_ratings WHERE person_id = (SELECT id FROM people WHERE name = 'anna')", "person_ratings game=tebes person_id=", "it is missing"},
		{"a rating too many", "INSERT INTO person_ratings (game, person_id, rating, deviation, volatility, wins, draws, losses) SELECT 'tute', id, 1500, 350, 0.06, 1, 0, 0 FROM people WHERE name = 'anna'", "person_ratings game=tute person_id=", "it is stored, and follows from nothing"},
		{"the order of rated games", "UPDATE plays SET rated = rated + 5 WHERE id = 'game-g'", "plays id=game-g", "rated is 7 where 2 is due"},
		{"a rated game without an order", "UPDATE plays SET rated = NULL WHERE id = 'game-f'", "plays id=game-f", "rated is none where 2 is due"},
		{"a game that is not rated", "UPDATE plays SET rated = 3 WHERE id = 'game-a'", "plays id=game-a", "rated is 3 where none is due"},
		{"what a game has moved", "UPDATE play_seats SET rating_after = rating_after + 1 WHERE play_id = 'game-f' AND seat = 0", "play_seats play_id=game-f seat=0", "rating_after is "},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			c := copyBusyCompetition(t)
			if _, err := c.writer.Exec(d.sql); err != nil {
				t.Fatal(err)
			}
			wantFound(t, c, d.where, d.what)
		})
	}
}

// notCompared lists the columns that nothing else in the database determines. The comment of Verify describes
// them, too.
var notCompared = map[string]string{
	"matches.asked_by":   "who asked for it",
	"matches.created":    "when it was added",
	"attempts.machine":   "who played it",
	"entries.since":      "more than the first match and the Elo at the start tell",
	"entries.fit":        "made from all matches again, after the next one",
	"entries.plus_minus": "as fit", "entries.opponents": "as fit",
	"archives.created":   "when it was made",
	"plays.began":        "when the person came",
	"plays.opener":       "which of several people opened the table",
	"play_seats.sat":     "when the person came",
	"play_seats.session": "in which browser it was",
}

// TestVerifyEveryColumn checks that Verify notices a change of any value of a result, except those in notCompared.
func TestVerifyEveryColumn(t *testing.T) {
	t.Parallel()
	const finished = " WHERE match_id IN (SELECT id FROM matches WHERE state = 'finished')"
	for _, x := range []struct {
		table, rows string
		moved       bool
	}{
		{"matches", " WHERE state = 'finished'", false}, {"match_slots", finished, false}, {"attempts", finished + " AND failed = 0", false},
		{"results", "", false}, {"fingerprints", "", false}, {"settings", "", false}, {"documents", "", false}, {"documents", "", true}, {"archives", "", true},
		{"changes", "", false}, {"entries", "", false}, {"pairs", "", false},
		{"plays", " WHERE state = 'finished'", false}, {"play_seats", " WHERE play_id IN (SELECT id FROM plays WHERE state = 'finished')", false},
		{"person_ratings", "", false},
	} {
		t.Run(fmt.Sprintf("%s, moved %t", x.table, x.moved), func(t *testing.T) {
			t.Parallel()
			c := copyBusyCompetition(t)
			if x.moved {
				c.clock.skip(31 * day)
				_, err := c.MoveDocuments(bg, ladder.Storage{Days: 30})
				kit.Must(t, err)
			}
			wantSound(t, c.Store)
			_, err := c.writer.Exec("PRAGMA foreign_keys = 0")
			kit.Must(t, err)
			_, own := c.rows("SELECT group_concat(name, ', ') FROM pragma_table_info('" + x.table + "')") // without generated columns
			columns, list := c.rows(fmt.Sprintf("SELECT %s FROM %s%s", own[0][0], x.table, x.rows))
			if len(list) == 0 {
				t.Fatal("it has no rows")
			}
			for _, row := range []int{0, len(list) - 1} {
				for i, column := range columns {
					if notCompared[x.table+"."+column] == "" {
						c.wantCompared(x.table, columns, list[row], i)
					}
				}
				if list[row][1] != logsKind { // whether a bot has written anything is not known
					c.wantMissed(x.table, columns, list[row])
				}
			}
			wantSound(t, c.Store) // all is as it was
		})
	}
}

// rows returns the columns and the rows that a query returns.
func (c *competition) rows(query string) (columns []string, list [][]any) {
	c.tb.Helper()
	rows, err := c.readers.Query(query)
	kit.Must(c.tb, err)
	defer rows.Close()
	columns, err = rows.Columns()
	kit.Must(c.tb, err)
	for rows.Next() {
		row, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		kit.Must(c.tb, rows.Scan(to...))
		list = append(list, row)
	}
	kit.Must(c.tb, rows.Err())
	return columns, list
}

// wantCompared changes a value of a row, checks that Verify finds it, and restores it.
func (c *competition) wantCompared(table string, columns []string, row []any, i int) {
	c.tb.Helper()
	changed := slices.Clone(row)
	changed[i] = otherValue(row[i])
	put := func(from, to []any) error {
		query := "UPDATE " + table + " SET " + columns[i] + " = ? WHERE " + strings.Join(columns, " IS ? AND ") + " IS ?"
		done, err := c.writer.Exec(query, append([]any{to[i]}, from...)...)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			c.tb.Fatalf("%s.%s: %d rows are changed, %v", table, columns[i], n, err)
		}
		return nil
	}
	if err := put(row, changed); err != nil {
		return // the database itself refuses it
	}
	found := kit.Get[[]Difference](c.tb)(c.Verify(bg, nil))
	if len(found) == 0 {
		c.tb.Errorf("%s.%s is %v instead of %v in %v, and nothing is found", table, columns[i], changed[i], row[i], row)
	}
	kit.Must(c.tb, put(changed, row))
}

// wantMissed deletes a row, checks that Verify finds it, and restores it.
func (c *competition) wantMissed(table string, columns []string, row []any) {
	c.tb.Helper()
	_, err := c.writer.Exec("DELETE FROM "+table+" WHERE "+strings.Join(columns, " IS ? AND ")+" IS ?", row...)
	kit.Must(c.tb, err)
	found := kit.Get[[]Difference](c.tb)(c.Verify(bg, nil))
	if len(found) == 0 {
		c.tb.Errorf("%s lacks %v, and nothing is found", table, row)
	}
	_, err = c.writer.Exec("INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")", row...)
	kit.Must(c.tb, err)
}

// otherValue returns a different value of the same type.
func otherValue(value any) any {
	switch v := value.(type) {
	case int64:
		return v + 1
	case float64:
		return math.Nextafter(v, 1e9)
	case []byte:
		out := bytes.Clone(v)
		out[len(out)/2] ^= 1
		return out
	case string:
		if inner, ok := strings.CutPrefix(v, "{"); ok { // JSON
			return strings.NewReplacer("60000", "60001", `"}`, `x"}`).Replace("{" + inner)
		}
		return v + "x"
	}
	return int64(1)
}

// TestVerifyGames checks that Verify notices a change of any number of a stored game or seat.
func TestVerifyGames(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	results := kit.Get[[]queries.ResultRow](t)(c.read.ResultsFrom(bg, 1, 100))
	put := func(r queries.ResultRow, games []ladder.FinishedGame) {
		_, err := c.writer.Exec("UPDATE results SET data = ? WHERE id = ?", c.codec.pack([]byte(jsonText(games))), r.ID)
		kit.Must(t, err)
	}
	for _, i := range []int{0, 1, len(results) - 1} { // two sides, four, and an unrated match
		r := results[i]
		games := kit.Get[[]ladder.FinishedGame](t)(c.codec.games(r))
		where := fmt.Sprintf("results match_id=%d deal=0 rotation=1", r.MatchID)
		for name, x := range map[string]struct {
			change func(*ladder.FinishedGame)
			where  string
			what   string
		}{
			"plies":    {func(g *ladder.FinishedGame) { g.Plies++ }, where, "plies is "},
			"took":     {func(g *ladder.FinishedGame) { g.Took += time.Microsecond }, fmt.Sprintf("results id=%d", r.ID), "took is "},
			"repeated": {func(g *ladder.FinishedGame) { g.Repeated = !g.Repeated }, where, "repeated is "},
			"deal":     {func(g *ladder.FinishedGame) { g.Deal += 9 }, where, "deal is 9 where 0 is due"},
			"rotation": {func(g *ladder.FinishedGame) { g.Rotation += 9 }, where, "rotation is 10 where 1 is due"},
			"rank":     {func(g *ladder.FinishedGame) { g.Seats[1].Rank++ }, where + " seat=1", "rank is "},
			"points":   {func(g *ladder.FinishedGame) { g.Seats[0].Points = math.Nextafter(g.Seats[0].Points, 1e9) }, where + " seat=0", "points is "},
			"fault":    {func(g *ladder.FinishedGame) { g.Seats[0].Fault = "illegal" }, where + " seat=0", "fault is "},
			"faults":   {func(g *ladder.FinishedGame) { g.Seats[0].Faults++ }, where + " seat=0", "faults is "},
			"no seat":  {func(g *ladder.FinishedGame) { g.Seats = g.Seats[1:] }, where, "seats where the replay has "},
			"one more": {func(g *ladder.FinishedGame) { g.Seats = append(g.Seats, ladder.GameSeat{}) }, where, "seats where the replay has "},
			"slot":     {func(g *ladder.FinishedGame) { g.Seats[1].Slot++ }, where + " seat=1", "slot is "},
			"seat":     {func(g *ladder.FinishedGame) { g.Seats[1].Seat++ }, where + " seat=1", "seat is "},
		} {
			changed := slices.Clone(games)
			changed[1].Seats = slices.Clone(changed[1].Seats)
			x.change(&changed[1])
			put(r, changed)
			t.Run(fmt.Sprintf("match %d, %s", r.MatchID, name), func(t *testing.T) { wantFound(t, c, x.where, x.what) })
		}
		put(r, games[:len(games)-1])
		wantFound(t, c, fmt.Sprintf("results match_id=%d deal=", r.MatchID), "the game is missing")
		put(r, games)
	}
	wantSound(t, c.Store)
}

// TestVerifyParts checks that Verify finds a replay that is stored twice or under another game.
func TestVerifyParts(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change      func([]part) []part
		where, what string
	}{
		"a replay twice":                 {func(p []part) []part { return append(p, p[0]) }, "documents match_id=1 deal=0 rotation=0", "there are two replays of the game"},
		"a replay too many":              {func(p []part) []part { return append(p, part{Deal: 7, Data: p[0].Data}) }, "documents match_id=1 deal=7 rotation=0", "the replay is of deal 0, rotation 0"},
		"no replay":                      {func(p []part) []part { return p[1:] }, "documents match_id=1 deal=0 rotation=0", "the replay is missing"},
		"another's replay":               {func(p []part) []part { p[0].Data = p[1].Data; return p }, "documents match_id=1 deal=0 rotation=0", "the replay is of deal 0, rotation 1"},
		"a byte of a replay":             {func(p []part) []part { return changeBytes(p, `"moves": [`, `"moves" [`) }, "documents match_id=1 deal=0 rotation=0", "not a replay document"},
		"points in a replay":             {func(p []part) []part { return changeBytes(p, `"points": [`, `"points": [1`) }, "documents match_id=1 deal=0 rotation=0", "points are "},
		"a clock of a seat":              {func(p []part) []part { return changeBytes(p, `"sha256"`, `"untimed":true,"sha256"`) }, "matches id=1", "deal 0, rotation 0: seat 0 has a clock of its own"},
		"a name in a replay":             {func(p []part) []part { return changeBytes(p, `"@random/1"`, `"@first/1"`) }, "documents match_id=1 deal=0 rotation=0 seat=0", `"@first/1" sat there by the replay, and "@random" by the version`},
		"a version in a replay":          {func(p []part) []part { return changeBytes(p, `"version":"1"`, `"version":"2"`) }, "documents match_id=1 deal=0 rotation=0 seat=0", `version "2" of "@random" ran by the replay, and "1" by the version`},
		"a person's version in a replay": {func(p []part) []part { return changeBytes(p, `"version":"1.0"`, `"version":"1.1"`) }, "documents match_id=1 deal=0 rotation=0 seat=1", `version "1.1" of "anna-bot" ran by the replay, and "1.0" by the version`},
		"a number in a replay":           {func(p []part) []part { return changeBytes(p, `"@random/1"`, `"@random/2"`) }, "documents match_id=1 deal=0 rotation=0 seat=0", `version 2 of "@random" sat there by the replay, and version 1 by the database`},
		"scores in a replay": {func(p []part) []part {
			return changeBytes(p, `"moves": [`, `"adjudication": {"draw": {"plies": 8, "score": 1}}, "moves": [`)
		}, "matches id=1", "the game could be adjudicated by scores"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := copyBusyCompetition(t)
			parts := kit.Get[[]part](t)(c.parts(bg, c.read, 1, replaysKind))
			joined := joinParts(x.change(parts))
			data := c.codec.pack(joined)
			sum := sha256.Sum256(data)
			_, err := c.writer.Exec("UPDATE documents SET size = ?, hash = ?, data = ? WHERE match_id = 1 AND kind = 'replays'", len(joined), sum[:], data)
			kit.Must(t, err)
			wantFound(t, c, x.where, x.what)
		})
	}
}

// TestVerifyBytesAfterParts checks that Verify finds bytes after the last part of a document.
func TestVerifyBytesAfterParts(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	for _, kind := range []string{replaysKind, logsKind} {
		joined := append(joinParts(kit.Get[[]part](t)(c.parts(bg, c.read, 1, kind))), "more"...)
		data := c.codec.pack(joined)
		sum := sha256.Sum256(data)
		_, err := c.writer.Exec("UPDATE documents SET size = ?, hash = ?, data = ? WHERE match_id = 1 AND kind = ?", len(joined), sum[:], data, kind)
		kit.Must(t, err)
		wantFound(t, c, "documents match_id=1 kind="+kind, kind+" have 4 bytes after the last part")
	}
}

// TestVerifyVersionsInPlays checks that Verify compares the versions of the bots in games of people with the
// replays.
func TestVerifyVersionsInPlays(t *testing.T) {
	t.Parallel()
	for from, x := range map[string]struct{ to, what string }{
		`"version":"1"`:   {`"version":"2"`, `version "2" of "@first" ran by the replay, and "1" by the version`},
		`"version":"1.0"`: {`"version":"1.1"`, `version "1.1" of "anna-bot" ran by the replay, and "1.0" by the version`},
	} {
		t.Run(x.to, func(t *testing.T) {
			t.Parallel()
			c := copyBusyCompetition(t)
			replay := kit.Get[[]byte](t)(c.Plays.Replay(bg, "game-b"))
			if !bytes.Contains(replay, []byte(from)) {
				t.Fatalf("there is no %s in %.2000s", from, replay)
			}
			_, err := c.writer.Exec("UPDATE plays SET replay = ? WHERE id = 'game-b'", c.codec.pack(bytes.Replace(replay, []byte(from), []byte(x.to), 1)))
			kit.Must(t, err)
			wantFound(t, c, "plays id=game-b seat=", x.what)
		})
	}
}

// TestUnpackBombs checks that data that would unpack to more than maxDocument are refused without using memory.
func TestUnpackBombs(t *testing.T) {
	codec := kit.Get[*codec](t)(newCodec())
	var stream bytes.Buffer
	w := kit.Get[*zstd.Encoder](t)(zstd.NewWriter(&stream))
	zeros := make([]byte, 1<<20)
	for range 300 {
		kit.Get[int](t)(w.Write(zeros))
	}
	kit.Must(t, w.Close())
	packed := codec.pack(zeros)
	huge := bytes.Clone(packed) // its head says 1 GiB
	var h zstd.Header
	kit.Must(t, h.Decode(huge))
	if !h.HasFCS || h.FrameContentSize != 1<<20 {
		t.Fatalf("the head is %+v", h)
	}
	huge = bytes.Replace(huge, []byte{0, 0, 0x10, 0}, []byte{0, 0, 0, 0x40}, 1)
	for name, data := range map[string][]byte{"a stream": stream.Bytes(), "two frames": append(bytes.Clone(packed), packed...), "a head with 1 GiB": huge} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := codec.unpack(data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "compressed data are damaged") {
			t.Errorf("%s: it says %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%s: it took %d bytes", name, took)
		}
	}
	if out, err := codec.unpack(packed); err != nil || !bytes.Equal(out, zeros) {
		t.Errorf("a document is read as %d bytes, %v", len(out), err)
	}
}

// changeBytes replaces a text in the first replay.
func changeBytes(parts []part, from, to string) []part {
	parts[0].Data = bytes.Replace(parts[0].Data, []byte(from), []byte(to), 1)
	return parts
}

// wantFound checks that Verify finds a difference, and that no difference contains Go syntax.
func wantFound(t *testing.T, c *competition, where, what string) {
	t.Helper()
	found := kit.Get[[]Difference](t)(c.Verify(bg, nil))
	right := false
	for _, f := range found {
		if strings.ContainsAny(f.Description, "{}") {
			t.Errorf("it says %s", f)
		}
		right = right || strings.HasPrefix(f.Place, where) && strings.Contains(f.Description, what)
	}
	if !right {
		t.Errorf("found %v, want %s: %s", found, where, what)
	}
}

func TestVerifyUploads(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	hashes := kit.Get[[]string](t)(c.Versions.Bundles(bg))
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

// TestVerifyDamagedPages checks that overwriting any page of the database is noticed and causes no panic.
func TestVerifyDamagedPages(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
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

// TestVerifyBesideFailures checks that an upload is not reported as missing if it was deleted during Verify
// because its version failed.
func TestVerifyBesideFailures(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	anna := c.addPeople("anna")[0]
	versions := map[string]ladder.Version{} // by upload
	for _, name := range []string{"one", "two"} {
		sum := writeUpload(t, c.Dir(), name)
		versions[sum] = kit.Get[ladder.Version](t)(c.Versions.Add(bg, anna.ID, NewVersion{Bot: name, Bundle: sum}, noLimits))
	}
	last := slices.Max(slices.Collect(maps.Keys(versions)))
	found := kit.Get[[]Difference](t)(c.Verify(bg, func(done, _ int64) {
		if done == 1 {
			kit.Must(t, c.Versions.Fail(bg, versions[last].ID, phrase.Plain("no")))
		}
	}))
	if len(found) > 0 {
		t.Errorf("verify: %v", found)
	}
	if _, err := os.Stat(kit.Get[string](t)(c.Dir().Bundle(last))); err == nil {
		t.Error("the upload is there")
	}
}
