package store

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// The limits of an archive file, which is built in memory and indexed in one transaction.
const (
	maxArchive        = 16 << 20 // bytes, after which no further match is added
	maxArchiveMatches = 4096
)

const movePage = 256 // matches that are read at a time

// MoveReport says what a call of MoveDocuments has done.
type MoveReport struct {
	Matches int   // whose documents were moved
	Bytes   int64 // size of the documents that were moved
	Files   int   // archive files written
	Full    bool  // the archive reached its size limit, so the remaining documents stay in the database
}

// MoveDocuments moves the replays and logs of old matches from the database to archive files. rules says how old a
// match must be, and how large the archive may become. Moved data can be read and verified as before.
//
// A file is on the disk before the database refers to it, so a crash at any moment loses nothing. The next call
// removes files to which the database does not refer. The caller must hold the lock of the directory. Only one call
// may run at a time.
func (s *Store) MoveDocuments(ctx context.Context, rules ladder.Storage) (done MoveReport, err error) {
	if rules.Days == 0 {
		return done, nil
	}
	m := s.mover(ctx, rules)
	if err = m.sweep(); err == nil {
		err = m.run()
	}
	return m.report, machineError(err)
}

// EstimateMove returns what MoveDocuments would do now if the archive had no size limit. In the result, Full is true
// if the archive would exceed its limit. Damaged replays and logs are counted, although MoveDocuments would not move
// them. EstimateMove may be called while a server runs.
func (s *Store) EstimateMove(ctx context.Context, rules ladder.Storage) (would MoveReport, err error) {
	if rules.Days == 0 {
		return would, nil
	}
	used, err := s.read.ArchivedBytes(ctx)
	if err != nil {
		return would, machineError(err)
	}
	due, err := s.read.KeptBefore(ctx, someID(stamp(s.mover(ctx, rules).before)))
	full := rules.Size > 0 && used+due.Bytes > int64(rules.Size)
	return MoveReport{Matches: int(due.Matches), Bytes: due.Bytes, Full: full}, machineError(err)
}

func (s *Store) mover(ctx context.Context, rules ladder.Storage) *mover {
	return &mover{store: s, ctx: ctx, storage: rules, before: s.options.Now().Add(-time.Duration(rules.Days) * 24 * time.Hour), maxMatches: maxArchiveMatches}
}

// mover is the state of one call of MoveDocuments.
type mover struct {
	store      *Store
	ctx        context.Context
	storage    ladder.Storage
	before     time.Time // matches that finished at this time or later stay
	maxMatches int       // matches per file
	report     MoveReport
	used       int64 // bytes of the whole archive

	file   []byte                       // content of the file that is being built
	places []queries.MoveDocumentParams // where in that file each document is
	count  int                          // matches in that file
}

// sweep prepares the archive directory: it removes files to which the database does not refer, and temporary
// files of processes that were killed. It sets m.used to the size of the archive.
func (m *mover) sweep() (err error) {
	if m.used, err = m.store.read.ArchivedBytes(m.ctx); err != nil {
		return err
	}
	dir := m.store.dir.Archive()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return archiveError(err)
	}
	for _, e := range entries {
		if datadir.IsHash(e.Name()) {
			sum, _ := hex.DecodeString(e.Name())
			if known, err := m.store.read.HasArchive(m.ctx, sum); err != nil || known {
				if err != nil {
					return err
				}
				continue
			}
		} else if !strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return archiveError(err)
		}
	}
	return nil
}

func archiveError(err error) error {
	return unavailable("check the disk and the permissions of the directory", "data: the archive cannot be changed: %w", err)
}

func (m *mover) run() error {
	for after := int64(0); ; {
		rows, err := m.store.read.KeptMatchesAfter(m.ctx, after, someID(stamp(m.before)), movePage)
		if err != nil {
			return err
		}
		for _, id := range rows {
			after = id
			if err := m.add(id); err != nil {
				return err
			}
			if len(m.file) < maxArchive && m.count < m.maxMatches {
				continue
			}
			if err := m.write(); err != nil || m.report.Full {
				return err
			}
		}
		if len(rows) < movePage {
			return m.write()
		}
	}
}

// add appends the replays and logs of a match to the archive file that is being built. If some are damaged, it
// skips the match.
func (m *mover) add(matchID int64) error {
	rows, err := m.store.read.KeptDocuments(m.ctx, matchID)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if sum := digestOf(r.Data); string(sum[:]) != string(r.Hash) {
			return nil
		}
	}
	for _, r := range rows {
		m.places = append(m.places, queries.MoveDocumentParams{
			Start: someID(int64(len(m.file))), Length: someID(int64(len(r.Data))), MatchID: matchID, Kind: r.Kind, Hash: r.Hash,
		})
		m.file = append(m.file, r.Data...)
	}
	m.count++
	return nil
}

// write writes the archive file that has been built and then records it in the database. If the file would
// exceed the limit of the archive, it only sets m.report.Full.
func (m *mover) write() error {
	if m.count == 0 {
		return nil
	}
	size := int64(len(m.file))
	if m.storage.Size > 0 && m.used+size > int64(m.storage.Size) {
		m.report.Full = true
		return nil
	}
	if err := m.ctx.Err(); err != nil {
		return err
	}
	sum, err := m.store.archive.put(m.file)
	if err != nil {
		return archiveError(err)
	}
	err = m.store.update(m.ctx, func(tx *Tx) error {
		id, err := tx.AddArchive(m.ctx, sum[:], size, stamp(tx.now))
		if err != nil {
			return err
		}
		for _, p := range m.places {
			p.ArchiveID = someID(id)
			n, err := tx.MoveDocument(m.ctx, p)
			if err != nil {
				return err
			}
			if n != 1 {
				return conflict("", "the %s of match %d were changed while they were moved", p.Kind, p.MatchID)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.used += size
	m.report.Files++
	m.report.Matches += m.count
	m.report.Bytes += size
	m.file, m.places, m.count = m.file[:0], m.places[:0], 0
	return nil
}
