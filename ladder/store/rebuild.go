package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// rebuild is a temporary store in which all results of another store are computed again, those of matches and of
// games of people, in order and by the same code. Two more databases are attached to its connection. "source" is the
// database of the other store. "stored" is a copy of the rows of "source", made when the rebuild began.
type rebuild struct {
	findings
	ctx    context.Context
	source *Store // the store that is rebuilt
	target *Store // the temporary store
	dir    string
	// replays says whether games are rebuilt from their replays. If it is false, the stored games are used.
	replays bool
	// progress is called with the number of matches whose results were computed since its last call.
	progress  func(n int)
	entries   map[int64][]arrival // versions that are still to be added to a ladder, by ladder ID
	knownBots map[arrivalBot]bool // bots of which a version was added to the ladder
}

// arrival is a version that enters a ladder. since is the number of the last match on the ladder before the
// version entered.
type arrival struct {
	version, since int64
	predecessor    sql.NullInt64
	arrivalBot
}

// arrivalBot is a bot and the ID of a ladder.
type arrivalBot struct {
	ladder int64
	bot    string
}

// rebuiltTables lists the tables that a rebuild copies. The value for a table is the name of a column that is
// not copied because it is large, or empty if all columns are copied.
var rebuiltTables = map[string]string{
	"people": "", "bots": "", "versions": "", "ladders": "", "settings": "", "matches": "", "match_slots": "", "attempts": "", "results": "data",
	"fingerprints": "", "changes": "", "entries": "", "pairs": "", "plays": "replay", "play_seats": "", "person_ratings": "",
}

// inputStatements copy data into the empty tables of the rebuild: all data that cannot be computed from other
// data. All matches become unfinished.
const inputStatements = `
INSERT INTO main.people SELECT * FROM stored.people;
INSERT INTO main.bots SELECT * FROM stored.bots;
INSERT INTO main.versions SELECT * FROM stored.versions;
INSERT INTO main.ladders SELECT * FROM stored.ladders;
UPDATE main.ladders SET finished = 0;
INSERT INTO main.settings SELECT * FROM stored.settings;
INSERT INTO main.matches SELECT * FROM stored.matches;
UPDATE main.matches SET state = 'running', reason = '', finished = NULL, result_id = NULL WHERE state = 'finished';
INSERT INTO main.match_slots SELECT * FROM stored.match_slots;
UPDATE main.match_slots SET faulty = 0;
INSERT INTO main.attempts SELECT * FROM stored.attempts;
UPDATE main.attempts SET ended = NULL, reason = '', failed = 0 FROM stored.matches
  WHERE matches.id = attempts.match_id AND matches.state = 'finished'
  AND attempts.number = (SELECT max(last.number) FROM stored.attempts AS last WHERE last.match_id = attempts.match_id);
INSERT INTO main.plays SELECT * FROM stored.plays;
UPDATE main.plays SET rated = NULL;
UPDATE main.plays SET state = 'open', ended = NULL, replay = NULL WHERE state = 'finished';
INSERT INTO main.play_seats SELECT * FROM stored.play_seats;
UPDATE main.play_seats SET wins = 0, draws = 0, losses = 0, ended = NULL, rating_before = NULL, rating_after = NULL;
`

// newRebuild makes a rebuild of source in which no match has finished yet. If replays is true, it computes
// games from their replays, otherwise from the stored games. The caller must close it.
func newRebuild(ctx context.Context, source *Store, replays bool) (_ *rebuild, err error) {
	r := &rebuild{ctx: ctx, source: source, replays: replays, progress: func(int) {}, entries: map[int64][]arrival{}, knownBots: map[arrivalBot]bool{}}
	if r.dir, err = os.MkdirTemp("", "timba-rebuild-"); err != nil {
		return nil, unavailable("set TMPDIR to a directory that can be written to", "data: a temporary directory cannot be made: %w", err)
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.target, err = open(r.dir, Options{Server: true, NoSync: true}, source.formula); err != nil {
		return nil, err
	}
	if err := r.attach("source", source.dir.Database(), url.Values{"mode": {"ro"}}); err != nil {
		return nil, err
	}
	if err := r.attach("stored", filepath.Join(r.dir, "stored.db"), nil); err != nil {
		return nil, err
	}
	// Damaged rows must be copied as well, so constraints are not checked.
	_, err = r.target.writer.ExecContext(ctx, `PRAGMA stored.journal_mode = off; PRAGMA stored.synchronous = off;
		PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1; DROP INDEX main.changes_history; DROP INDEX main.results_order`)
	if err != nil {
		return nil, err
	}
	return r, r.update(r.copy)
}

func (r *rebuild) close() error {
	var err error
	if r.target != nil {
		err = r.target.Close()
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

func (r *rebuild) attach(name, path string, params url.Values) error {
	uri, err := databaseURI(path, params)
	if err == nil {
		_, err = r.target.writer.ExecContext(r.ctx, "ATTACH DATABASE ? AS "+name, uri)
	}
	return err
}

func (r *rebuild) update(f func(*Tx) error) error { return r.target.update(r.ctx, f) }

// copy copies the rows of the database "source" to the database "stored" in one transaction. It then copies the
// data that cannot be computed from "stored" to the rebuild.
func (r *rebuild) copy(tx *Tx) error {
	for table, large := range rebuiltTables {
		columns, _, err := tx.columns(r.ctx, table)
		if err != nil {
			return err
		}
		for i, c := range columns {
			if c == large {
				columns[i] = fmt.Sprintf("iif(%s IS NULL, NULL, x'') AS %s", c, c)
			}
		}
		if err := tx.exec(r.ctx, fmt.Sprintf("CREATE TABLE stored.%s AS SELECT %s FROM source.%s", table, strings.Join(columns, ", "), table)); err != nil {
			return err
		}
	}
	err := tx.exec(r.ctx, `CREATE INDEX stored.matches_id ON matches (id); CREATE INDEX stored.attempts_id ON attempts (match_id, number);
		CREATE INDEX stored.play_seats_id ON play_seats (play_id); CREATE INDEX stored.plays_id ON plays (id);`+inputStatements)
	if err != nil {
		return err
	}
	return r.readArrivals(tx)
}

// readArrivals sets r.entries to the versions that joined each ladder, in that order. A version comes after its
// predecessor even if both joined before the same match, which happens when a bot returns to an older version.
func (r *rebuild) readArrivals(tx *Tx) error {
	err := tx.eachRow(r.ctx, func(scan func(...any) error) error {
		var a arrival
		err := scan(&a.ladder, &a.version, &a.predecessor, &a.since, &a.bot)
		r.entries[a.ladder] = append(r.entries[a.ladder], a)
		return err
	}, `SELECT entries.ladder_id, entries.version_id, entries.predecessor, entries.since, coalesce(bots.name, '')
		FROM stored.entries LEFT JOIN stored.versions ON versions.id = entries.version_id LEFT JOIN stored.bots ON bots.id = versions.bot_id
		ORDER BY entries.ladder_id, entries.since, entries.version_id`)
	for ladder, list := range r.entries {
		r.entries[ladder] = inOrder(list)
	}
	return err
}

// inOrder sorts arrivals (versions that enter a ladder) so that each comes after its predecessor if both entered
// after the same match.
func inOrder(list []arrival) (out []arrival) {
	versions, added := map[int64]arrival{}, map[int64]bool{}
	for _, a := range list {
		versions[a.version] = a
	}
	var add func(arrival)
	add = func(a arrival) {
		if added[a.version] {
			return
		}
		added[a.version] = true
		if p, ok := versions[a.predecessor.Int64]; ok && p.since == a.since {
			add(p)
		}
		out = append(out, a)
	}
	for _, a := range list {
		add(a)
	}
	return out
}

func (a arrival) place() string {
	return fmt.Sprintf("entries ladder_id=%d version_id=%d", a.ladder, a.version)
}

// enterVersions adds to a ladder the versions that entered it before its match with the number order. Each version
// starts with the current Elo of its predecessor.
func (r *rebuild) enterVersions(tx *Tx, ladderID, order int64) error {
	list := r.entries[ladderID]
	for ; len(list) > 0 && list[0].since < order; list = list[1:] {
		a := list[0]
		predecessor, err := r.predecessor(tx, a)
		if err != nil {
			return err
		}
		e := tx.formula.NewEntry(a.version, predecessor, a.bot == ladder.Anchor)
		err = tx.AddEntry(r.ctx, queries.AddEntryParams{
			LadderID: ladderID, VersionID: a.version, Predecessor: a.predecessor, Since: a.since, Start: e.Elo, Uncertainty: e.Uncertainty, Held: boolColumn(e.Fixed),
		})
		if err != nil {
			return err
		}
		r.knownBots[a.arrivalBot] = true
	}
	r.entries[ladderID] = list
	return nil
}

// predecessor returns the state of the version from which a newly arrived version takes its first Elo, or nil if
// there is none. If the stored predecessor cannot be right, it reports a difference.
func (r *rebuild) predecessor(tx *Tx, a arrival) (*rating.Entry, error) {
	if !a.predecessor.Valid {
		if r.knownBots[a.arrivalBot] {
			r.report(a.place(), "it has no predecessor, and another version of %q came before it", a.bot)
		}
		return nil, nil
	}
	row, err := tx.Entry(r.ctx, a.ladder, a.predecessor.Int64)
	if errors.Is(err, sql.ErrNoRows) {
		r.report(a.place(), "its predecessor, version %d, came after it", a.predecessor.Int64)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := tx.VersionByID(r.ctx, row.VersionID)
	if err = ifNoRows(err, nil); err != nil {
		return nil, err
	}
	if v.Name != a.bot {
		r.report(a.place(), "its predecessor is of %q, and it is of %q", v.Name, a.bot)
	}
	e := entry(row)
	return &e, nil
}

// run computes the results of all matches and then of all games of people again.
func (r *rebuild) run() error {
	if err := r.finishMatches(); err != nil {
		return err
	}
	if err := r.finishPlays(); err != nil {
		return err
	}
	return r.update(func(tx *Tx) error {
		ladders, err := tx.Ladders(r.ctx)
		if err != nil {
			return err
		}
		for _, l := range ladders {
			if err := r.enterVersions(tx, l.ID, l.Finished+1); err != nil {
				return err
			}
		}
		for _, list := range r.entries {
			for _, a := range list {
				r.report(a.place(), "it came after match %d of the ladder, which there is not", a.since)
			}
		}
		if err := tx.UpdateActive(r.ctx); err != nil {
			return err
		}
		return r.query(r.ctx, tx, `SELECT printf('entries ladder_id=%d version_id=%d', dues.ladder_id, dues.version_id), 'it is missing: the version plays there'
			FROM dues LEFT JOIN entries ON entries.ladder_id = dues.ladder_id AND entries.version_id = dues.version_id
			WHERE dues.due AND entries.version_id IS NULL`)
	})
}

// finishedMatch is a match whose result is to be computed again.
type finishedMatch struct {
	id, finishedAt int64
	size           int64 // bytes of its unpacked documents
}

// These constants limit a chunk of matches that are computed again together. chunkSize is the limit for its replays
// and logs in memory, in bytes; the last match of a chunk may exceed it. chunkMatches is the largest number of
// matches.
const (
	chunkSize    = 32 << 20
	chunkMatches = 128
)

// finishMatches computes the results of all matches again, in order. It processes the matches in chunks: it reads and
// verifies the matches of a chunk on all cores and then stores their results one by one.
func (r *rebuild) finishMatches() error {
	list, err := r.finishedMatches()
	if err != nil {
		return err
	}
	for len(list) > 0 {
		n, size := 0, int64(0)
		for n < len(list) && n < chunkMatches && size < chunkSize {
			size += list[n].size
			n++
		}
		prepared := make([]*preparedMatch, n)
		err := onAllCores(r.ctx, n, func(ctx context.Context, i int) (err error) {
			prepared[i], err = r.prepareMatch(ctx, list[i])
			return err
		})
		if err != nil {
			return err
		}
		if err := r.update(func(tx *Tx) error { return r.finishAll(tx, prepared) }); err != nil {
			return err
		}
		r.progress(n)
		list = list[n:]
	}
	return nil
}

func (r *rebuild) finishedMatches() (list []finishedMatch, err error) {
	err = r.update(func(tx *Tx) error {
		return tx.eachRow(r.ctx, func(scan func(...any) error) error {
			var m finishedMatch
			err := scan(&m.id, &m.finishedAt, &m.size)
			list = append(list, m)
			return err
		}, `SELECT matches.id, coalesce(matches.finished, 0), coalesce((SELECT sum(size) FROM source.documents WHERE match_id = matches.id), 0)
			FROM stored.matches WHERE state = 'finished' ORDER BY result_id, id`)
	})
	return list, err
}

// onAllCores calls f once for each number i in [0, n), with as many calls at a time as there are cores. After the
// first error, the context that f receives ends, and onAllCores returns that error.
func onAllCores(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { return f(ctx, i) })
	}
	return group.Wait()
}

func (r *rebuild) finishAll(tx *Tx, list []*preparedMatch) error {
	for _, m := range list {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.addAll(m.findings)
		if err := r.finishMatch(tx, m); err != nil {
			return err
		}
	}
	return nil
}

// finishMatch computes the result of a match again, from its replays or, if they are damaged or not used, from
// its stored games. If that fails, it reports why and copies the result.
func (r *rebuild) finishMatch(tx *Tx, m *preparedMatch) error {
	tx.now = moment(m.finishedAt)
	attempt, err := tx.LastAttempt(r.ctx, m.id)
	if err = ifNoRows(err, nil); err != nil {
		return err
	}
	f := &finisher{ctx: r.ctx, tx: tx, codec: r.target.codec, results: m.results}
	err = f.load(m.id, int(attempt.Number))
	if err == nil {
		err = r.enterVersions(tx, f.ladder.ID, f.ladder.Finished+1)
	}
	if err == nil && m.results != nil {
		if err = f.check(); err == nil {
			err = f.markRepeated()
		} else {
			m.reportFailure(r, err)
			m.results, err = nil, nil
		}
	}
	byReplays := m.results != nil
	if err == nil && !byReplays {
		f.games = slices.Clone(m.games)
		f.reason, err = r.storedReason(tx, m.id)
		if err == nil {
			err = rating.CheckComplete(f.match.Deals, len(f.match.Versions), f.games)
		}
	}
	if err == nil {
		err = f.computeOutcome()
	}
	if err != nil {
		if isDatabase(err) {
			return err
		}
		m.reportFailure(r, err)
		return r.copyMatch(tx, m.id)
	}
	if err := f.save(); err != nil {
		return err
	}
	if byReplays {
		r.compareGames(m, f.games)
		return nil
	}
	// Without the replays the fingerprints cannot be computed, so they are copied.
	return tx.exec(r.ctx, `INSERT OR REPLACE INTO main.fingerprints SELECT fingerprints.* FROM stored.fingerprints JOIN main.results
		ON results.ladder_id = fingerprints.ladder_id AND results.ord = fingerprints.ord WHERE results.match_id = ?`, m.id)
}

func (r *rebuild) storedReason(tx *Tx, matchID int64) (reason string, err error) {
	err = tx.db.QueryRowContext(r.ctx, "SELECT reason FROM stored.matches WHERE id = ?", matchID).Scan(&reason)
	return reason, err
}

// copyMatch copies the rows of a match whose result cannot be computed again, and the ratings after it.
func (r *rebuild) copyMatch(tx *Tx, matchID int64) error {
	for _, s := range []string{
		"INSERT OR REPLACE INTO main.matches SELECT * FROM stored.matches WHERE id = ?",
		"INSERT OR REPLACE INTO main.match_slots SELECT * FROM stored.match_slots WHERE match_id = ?",
		"INSERT OR REPLACE INTO main.attempts SELECT * FROM stored.attempts WHERE match_id = ?",
		"INSERT OR REPLACE INTO main.results SELECT * FROM stored.results WHERE match_id = ?",
		"INSERT OR REPLACE INTO main.changes SELECT * FROM stored.changes WHERE match_id = ?",
		`UPDATE main.entries SET elo = c.elo_after, uncertainty = c.uncertainty, matches = c.number FROM stored.changes AS c
			WHERE c.match_id = ? AND c.ladder_id = entries.ladder_id AND c.version_id = entries.version_id`,
		`INSERT OR REPLACE INTO main.fingerprints SELECT fingerprints.* FROM stored.fingerprints JOIN stored.results
			ON results.ladder_id = fingerprints.ladder_id AND results.ord = fingerprints.ord WHERE results.match_id = ?`,
		"UPDATE main.ladders SET finished = finished + 1 WHERE id = (SELECT ladder_id FROM stored.matches WHERE id = ?)",
	} {
		if err := tx.exec(r.ctx, s, matchID); err != nil {
			return err
		}
	}
	return nil
}

// finishPlays computes again the result of each finished game in which a person played on the site. It takes the
// games in the order in which they were rated; games without a rating come last.
func (r *rebuild) finishPlays() error {
	var ids []string
	err := r.update(func(tx *Tx) (err error) {
		ids, err = tx.queryStrings(r.ctx, "SELECT id FROM stored.plays WHERE state = 'finished' ORDER BY rated IS NULL, rated, ended, id")
		return err
	})
	if err != nil {
		return err
	}
	for page := range slices.Chunk(ids, chunkMatches) {
		prepared := make([]*preparedPlay, len(page))
		err := onAllCores(r.ctx, len(page), func(ctx context.Context, i int) (err error) {
			prepared[i], err = r.preparePlay(ctx, page[i])
			return err
		})
		if err != nil {
			return err
		}
		err = r.update(func(tx *Tx) error {
			for _, p := range prepared {
				r.addAll(p.findings)
				if err := r.finishPlay(tx, p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finishPlay computes the result of a game of people again, or copies it if that is not possible.
func (r *rebuild) finishPlay(tx *Tx, p *preparedPlay) error {
	if p.variant == nil {
		err := tx.exec(r.ctx, "INSERT OR REPLACE INTO main.plays SELECT * FROM stored.plays WHERE id = ?", p.id)
		if err == nil {
			err = tx.exec(r.ctx, "INSERT OR REPLACE INTO main.play_seats SELECT * FROM stored.play_seats WHERE play_id = ?", p.id)
		}
		return err
	}
	tx.now = moment(p.endedAt)
	return tx.finishPlay(r.ctx, p.id, p.variant, p.ranks, []byte{})
}
