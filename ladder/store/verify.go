package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/datadir"
)

// Verify computes again everything that follows from other data, and returns the differences from what is
// stored. If there are none, the list is empty. Verify checks
//
//   - the database by SQLite's own checks, and the uploads and the archive by their hashes;
//   - every replay of a match or of a game of people by the rules, including seeds, commitments and players;
//   - everything that results from finishing the matches and the games of people again, in order and by the same
//     code: results, ratings, sums and counts, bit by bit.
//
// Some columns do not follow from other data, so they are not compared:
//
//   - of a match: who requested it, when it was added, and the start-up time of its clock;
//   - of an attempt: its machine, and its start unless it is the first attempt at its match;
//   - of an interrupted attempt also: its seed, its end, its reason, and whether the attempt failed;
//   - of a game: its duration, of which only the sum is known; the times and infos of moves within the limits of
//     the clock; the hash of a house bot; and the logs of bots, which may be missing. In a match, only the hash of
//     the match's documents reveals changes of these data; in a game of people nothing does;
//   - of a ladder entry: when the version entered the ladder, if its first match and its first Elo are right; and
//     its fit and number of opponents, which the server computes again after the next match;
//   - of a game of people: its start; its end unless the game counts for a bot; and which of several people opened
//     its table;
//   - of an archive file: when it was made.
//
// Matches may go on during the check; those that finish later are not checked. If progress is not nil, it is
// called with the number of finished steps and of all steps; a step is a match or an upload. If Verify cannot
// continue, it returns an error with the differences found so far. The list has at most 10,000 differences and
// a last one that says how many were left out.
//
// Verify needs a temporary directory with room for the rows of the database, without replays and logs.
func (s *Store) Verify(ctx context.Context, progress func(done, total int64)) ([]Difference, error) {
	v := &verifier{store: s, ctx: ctx, progress: progress}
	for _, step := range []func() error{v.database, v.bundles, v.archives, v.rebuild} {
		if err := step(); err != nil {
			return v.differences(), machineError(err)
		}
	}
	return v.differences(), nil
}

// verifier is the state of one call of Verify.
type verifier struct {
	findings
	store     *Store
	ctx       context.Context
	progress  func(done, total int64)
	doneSteps int64
	total     int64
}

func (v *verifier) advance(n int) {
	v.doneSteps += int64(n)
	if v.progress != nil {
		v.progress(v.doneSteps, max(v.total, v.doneSteps))
	}
}

// database runs SQLite's own checks of pages, indexes, constraints and references. If the file is too damaged
// for that, it reports this as a difference.
func (v *verifier) database() error {
	for _, query := range []string{
		"SELECT 'database', integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
		`SELECT 'database', printf('row %s of %s refers to nothing in %s', coalesce(rowid, '?'), "table", parent) FROM pragma_foreign_key_check`,
	} {
		if err := v.query(v.ctx, v.store.read, query); err != nil {
			v.report("database", "%s", machineError(err))
			return err
		}
	}
	return nil
}

// bundles checks that every needed upload exists and has the hash that is its name.
func (v *verifier) bundles() error {
	hashes, err := v.store.read.Bundles(v.ctx)
	if err != nil {
		return err
	}
	matches, err := v.store.read.CountFinished(v.ctx)
	if err != nil {
		return err
	}
	v.total = matches + int64(len(hashes))
	for _, want := range hashes {
		got, err := hashOf(v.store.dir, want)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			needed, err := v.store.read.CountBundle(v.ctx, want)
			if err != nil {
				return err
			}
			if needed > 0 { // otherwise its version has failed in the meantime
				v.report("upload "+want, "it is missing")
			}
		case err != nil:
			v.report("upload "+want, "%s", err)
		case got != want:
			v.report("upload "+want, "the file has the SHA-256 %s", got)
		}
		v.advance(1)
	}
	return nil
}

// archives checks that every archive file exists and has the hash that is its name.
func (v *verifier) archives() error {
	rows, err := v.store.read.Archives(v.ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		sum := digest(r.Hash)
		where := fmt.Sprintf("archive file %s, with the replays and logs of %d matches", sum, r.Matches)
		if err := v.ctx.Err(); err != nil {
			return err
		}
		data, err := v.store.archive.read(sum, 0, r.Size)
		switch got := digestOf(data); {
		case errors.Is(err, fs.ErrNotExist):
			v.report(where, "it is missing")
		case err != nil:
			v.report(where, "%s", err)
		case got != sum:
			v.report(where, "the file has the SHA-256 %s", got)
		}
	}
	return nil
}

func hashOf(dir datadir.Dir, sum string) (string, error) {
	path, err := dir.Bundle(sum)
	if err != nil {
		return "", err
	}
	return trees.HashFile(path)
}

// rebuild compares everything that can be computed from the matches and the games of people with what is stored.
// If another version of the formula computed the ratings, it reports only that.
func (v *verifier) rebuild() error {
	stored, err := v.store.read.Formula(v.ctx)
	if err != nil {
		return err
	}
	if now := v.store.formula.Fingerprint(); stored != now {
		v.report(OtherFormula, "the ratings were computed by %s where this timba has %s", stored, now)
		return nil
	}
	r, err := newRebuild(v.ctx, v.store, true)
	if err != nil {
		return err
	}
	defer r.close()
	r.progress = v.advance
	if err = r.checkInputs(); err == nil {
		err = r.run()
	}
	if err == nil {
		err = r.compareTables(nil)
	}
	v.addAll(r.findings)
	return err
}

// inputChecks is a query for contradictions in data that cannot be computed from other data. A row has the place
// and the description of a contradiction.
const inputChecks = `
WITH a AS (
  SELECT attempts.*, matches.state, matches.began AS match_began,
    row_number() OVER w AS place, row_number() OVER (PARTITION BY match_id ORDER BY number DESC) = 1 AS last,
    first_value(number) OVER (PARTITION BY match_id, seed ORDER BY number) AS same,
    printf('attempts match_id=%d number=%d', match_id, number) AS name
  FROM stored.attempts JOIN stored.matches ON matches.id = attempts.match_id WINDOW w AS (PARTITION BY match_id ORDER BY number)
)
SELECT name, printf('number is %d where %d is due', number, place) FROM a WHERE number <> place
UNION ALL SELECT name, printf('began is %d where %s is due', began, coalesce(match_began, 'none')) FROM a WHERE place = 1 AND began IS NOT match_began
UNION ALL SELECT name, 'it has not ended' FROM a WHERE ended IS NULL AND (NOT last OR state IN ('waiting', 'dropped'))
UNION ALL SELECT name, 'it was not broken off, and another one follows' FROM a WHERE NOT last AND ended IS NOT NULL AND reason = ''
UNION ALL SELECT name, printf('it runs, and it has the end %s, the reason "%s", and failed is %d', coalesce(ended, 'none'), reason, failed)
  FROM a WHERE last AND state = 'running' AND (ended IS NOT NULL OR reason <> '' OR failed <> 0)
UNION ALL SELECT name, printf('it has the seed of attempt %d', same) FROM a WHERE same <> number
UNION ALL SELECT printf('matches id=%d', id), 'it is finished and was never begun' FROM stored.matches
  WHERE state = 'finished' AND NOT EXISTS (SELECT 1 FROM stored.attempts WHERE attempts.match_id = matches.id)
UNION ALL SELECT DISTINCT printf('documents match_id=%d', match_id), printf('the match is %s, and has replays or logs', matches.state)
  FROM source.documents JOIN stored.matches ON matches.id = match_id WHERE matches.state <> 'finished'
  AND (SELECT now.state FROM source.matches AS now WHERE now.id = match_id) <> 'finished'
UNION ALL SELECT printf('match_slots match_id=%d slot=%d', match_id, slot), printf('it has slot %d where slot %d is due', slot, place)
  FROM (SELECT match_id, slot, row_number() OVER (PARTITION BY match_id ORDER BY slot) - 1 AS place FROM stored.match_slots) WHERE slot <> place
`

func (r *rebuild) checkInputs() error {
	return r.update(func(tx *Tx) error { return r.query(r.ctx, tx, inputChecks) })
}

// query adds a difference for each row that a query returns. The columns of a row are the place and the
// description.
func (f *findings) query(ctx context.Context, tx *Tx, query string) error {
	return tx.eachRow(ctx, func(scan func(...any) error) error {
		var d Difference
		err := scan(&d.Place, &d.Description)
		f.add(d)
		return err
	}, query)
}
