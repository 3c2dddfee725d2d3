package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// Verify computes everything again that follows from something else, and says what
// differs; nothing does when the list is empty.
//
//   - the database by SQLite's own checks, then the uploads and the archive by their hashes;
//   - every game of a match and of a person from its replay by the rules, with its seeds,
//     commitments, players and results;
//   - every rating, sum and count of every ladder from its matches in their order, and every
//     rating of a person from their games, bit by bit.
//
// Of some columns nothing else in the database tells, so they are not compared:
//
//   - of a match: who asked for it, when it was added, and the start-up time of its clock;
//   - of an attempt: its machine, and of one that was broken off its seed, when it ended, why and whether the
//     referee failed, and when it began unless it is the first one;
//   - of a game: how long it took, of which only the sum is known; the times and infos of its moves,
//     as far as the clock permits them; and the bots' logs, which are not missed. What a match
//     has of these is compared with its hash alone, and what a game of a person has with none;
//   - of an entry: since when it is on the ladder as long as its first match and its Elo at
//     the start are right, and its fit, which the server makes from all matches again, after the next one;
//   - of a game of a person: when it began, when it ended unless it counts for a bot, and which of several
//     people opened its table;
//   - of an archive file, when it was made.
//
// Matches may go on meanwhile: those that finish later are left for the next time.
// progress, if not nil, is told how many of the matches and uploads are done. The
// error says that it could not go on; the list has what was found until then.
func (s *Store) Verify(ctx context.Context, progress func(done, total int64)) ([]Difference, error) {
	v := &verifier{store: s, ctx: ctx, progress: progress}
	for _, step := range []func() error{v.database, v.bundles, v.archives, v.unfinished, v.unrated, v.plays, v.ladders} {
		if err := step(); err != nil {
			return v.findings, explain(err)
		}
	}
	return v.findings, nil
}

// verifier is one run of Verify.
type verifier struct {
	findings
	store    *Store
	ctx      context.Context
	progress func(done, total int64)
	done     int64
	total    int64
}

func (v *verifier) step(n int) {
	v.done += int64(n)
	if v.progress != nil {
		v.progress(v.done, max(v.total, v.done))
	}
}

// database lets SQLite look at its pages, indexes, constraints and references. A
// file that is too damaged for that is a difference, too.
func (v *verifier) database() error {
	for _, query := range []string{
		"SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
		`SELECT printf('row %s of %s refers to nothing in %s', coalesce(rowid, '?'), "table", parent) FROM pragma_foreign_key_check`,
	} {
		if err := v.damages(query); err != nil {
			v.differ("database", "%s", explain(err))
			return err
		}
	}
	return nil
}

// damages notes what a query finds.
func (v *verifier) damages(query string) error {
	rows, err := v.store.readers.QueryContext(v.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		v.differ("database", "%s", text)
	}
	return rows.Err()
}

// bundles compares the hash of every upload with its name.
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
			if needed > 0 { // else its version has failed meanwhile
				v.differ("upload "+want, "it is missing")
			}
		case err != nil:
			v.differ("upload "+want, "%s", err)
		case got != want:
			v.differ("upload "+want, "the file has the SHA-256 %s", got)
		}
		v.step(1)
	}
	return nil
}

// archives compares the hash of every archive file with its name.
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
			v.differ(where, "it is missing")
		case err != nil:
			v.differ(where, "%s", err)
		case got != sum:
			v.differ(where, "the file has the SHA-256 %s", got)
		}
	}
	return nil
}

func hashOf(dir datadir.Dir, sum string) (string, error) {
	path, err := dir.Bundle(sum)
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// unfinished looks for results of matches that have none, and at their attempts. No result is ever removed.
func (v *verifier) unfinished() error {
	results, err := v.store.read.CountResults(v.ctx)
	if err != nil {
		return err
	}
	if results.Count != results.Highest {
		v.differ("database", "there are %d results, and the last one has the ID %d", results.Count, results.Highest)
	}
	rows, err := v.store.read.UnfinishedWithResults(v.ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		v.differ(fmt.Sprintf("match %d", r.ID), "it is %s, and has a result, replays, changes or faults", r.State)
	}
	all, err := v.store.read.UnfinishedAttempts(v.ctx)
	if err != nil {
		return err
	}
	for len(all) > 0 {
		m := queries.MatchRow{ID: all[0].Attempt.MatchID, State: all[0].State, Began: all[0].MatchBegan}
		var attempts []queries.Attempt
		for len(all) > 0 && all[0].Attempt.MatchID == m.ID {
			attempts, all = append(attempts, all[0].Attempt), all[1:]
		}
		v.checkAttempts(m, attempts)
	}
	return nil
}

// checkAttempts compares the attempts at a match with each other and with the match.
func (f *findings) checkAttempts(m queries.MatchRow, list []queries.Attempt) {
	seeds := map[string]int64{} // the numbers of their attempts
	for i, a := range list {
		where := fmt.Sprintf("match %d, attempt %d", m.ID, a.Number)
		want := a
		want.Number = int64(i + 1)
		if i == 0 {
			want.Began = m.Began.Int64
		}
		last := i == len(list)-1
		switch {
		case last && m.State == string(ladder.Finished):
			want.Ended, want.Reason, want.Failed = m.Finished, "", 0
		case last && m.State == string(ladder.Running):
			want.Ended, want.Reason, want.Failed = sql.NullInt64{}, "", 0
		case !a.Ended.Valid:
			f.differ(where, "it has not ended")
		case !last && a.Reason == "":
			f.differ(where, "it was not broken off, and another one follows")
		}
		f.compare(where, a, want)
		if other := seeds[string(a.Seed)]; other != 0 {
			f.differ(where, "it has the seed of attempt %d", other)
		}
		seeds[string(a.Seed)] = a.Number
	}
}

// unrated rebuilds the matches that are not on a ladder.
func (v *verifier) unrated() error {
	for last := int64(0); ; {
		rows, err := v.store.read.FinishedUnrated(v.ctx, last, page)
		if err != nil || len(rows) == 0 {
			return err
		}
		if _, err := v.rebuild(rows); err != nil {
			return err
		}
		last = rows[len(rows)-1].ID
	}
}

// rebuild rebuilds a page of matches on all processors, in their order.
func (v *verifier) rebuild(rows []queries.MatchRow) ([]*rebuilt, error) {
	out := make([]*rebuilt, len(rows))
	err := onAllCores(v.ctx, len(rows), func(ctx context.Context, i int) (err error) {
		out[i], err = v.store.rebuild(ctx, rows[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, r := range out {
		v.findings = append(v.findings, r.findings...)
	}
	v.step(len(rows))
	return out, nil
}

// onAllCores calls f for the numbers below n, some of them at the same time.
func onAllCores(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { return f(ctx, i) })
	}
	return group.Wait()
}

func (v *verifier) ladders() error {
	rows, err := v.store.read.Ladders(v.ctx)
	if err != nil {
		return err
	}
	for _, l := range rows {
		if err := v.ladder(l); err != nil {
			return err
		}
	}
	return nil
}
