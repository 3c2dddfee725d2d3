package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// Tx is a transaction.
type Tx struct {
	*queries.Queries
	db      queries.DBTX // for statements that are not in package queries
	now     time.Time    // of all that it writes
	formula rating.Formula

	events         []events.Event // that its commit tells
	ladderChanges  []ladderChange // that its commit makes in memory
	changesWaiting bool           // it changes which matches wait
	changesLadders bool           // it changes who plays in many ways: the ladders are to be read again
}

// view runs f on one state of the database.
func (s *db) view(ctx context.Context, f func(*Tx) error) error {
	begun, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return machineError(err)
	}
	defer begun.Rollback() // it has changed nothing
	return machineError(contextError(ctx, f(&Tx{Queries: queries.New(begun), db: begun, now: s.now(), formula: s.formula})))
}

// viewLadder is view, with a ladder that exists.
func (s *db) viewLadder(ctx context.Context, name string, f func(*Tx, queries.Ladder) error) error {
	return s.view(ctx, func(tx *Tx) error {
		l, err := tx.ladder(ctx, name)
		if err != nil {
			return err
		}
		return f(tx, l)
	})
}

// update runs f in one transaction, which is committed if f returns nil and changes nothing otherwise.
// What f leaves in it to be changed in memory, and told, is so before the next transaction begins.
func (s *db) update(ctx context.Context, f func(*Tx) error) error {
	if s.readOnly {
		return unavailable("open it without read-only", "data: directory %q is open read-only", s.dir)
	}
	if err := s.acquireTurn(ctx); err != nil {
		return err
	}
	defer s.releaseTurn()
	begun, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return machineError(err)
	}
	defer begun.Rollback() // what is not committed
	tx := &Tx{Queries: queries.New(begun), db: begun, now: s.now(), formula: s.formula}
	if err = s.detectOtherWriters(ctx, begun); err == nil {
		err = f(tx)
	}
	if err != nil {
		return machineError(contextError(ctx, err))
	}
	if err := begun.Commit(); err != nil {
		s.cache.clear() // it may have been committed
		return machineError(contextError(ctx, err))
	}
	s.cache.apply(tx)
	for _, e := range tx.events {
		s.events.Publish(e)
	}
	return nil
}

// exec executes a statement that is not in package queries.
func (tx *Tx) exec(ctx context.Context, statement string, args ...any) error {
	_, err := tx.db.ExecContext(ctx, statement, args...)
	return err
}

// queryStrings returns the text that a query finds.
func (tx *Tx) queryStrings(ctx context.Context, query string, args ...any) (list []string, err error) {
	err = tx.eachRow(ctx, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		list = append(list, text)
		return err
	}, query, args...)
	return list, err
}

// eachRow calls f for each row that a query finds, with the function that reads it.
func (tx *Tx) eachRow(ctx context.Context, f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := tx.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// columns returns the columns of a table, but for those that are generated, and those of its primary key.
func (tx *Tx) columns(ctx context.Context, table string) (columns, key []string, err error) {
	if columns, err = tx.queryStrings(ctx, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table); err != nil {
		return nil, nil, err
	}
	key, err = tx.queryStrings(ctx, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table)
	return columns, key, err
}

// addEvent tells an event when the transaction is committed.
func (tx *Tx) addEvent(e events.Event) { tx.events = append(tx.events, e) }

// addLadderChange changes a ladder in memory, or with 0 all of them, when the transaction is committed.
func (tx *Tx) addLadderChange(ladderID int64, f func(*ladderState)) {
	tx.ladderChanges = append(tx.ladderChanges, ladderChange{ladderID, f})
}

// acquireTurn waits until no transaction writes. Who has the turn leaves it again.
func (s *db) acquireTurn(ctx context.Context) error {
	select {
	case s.writeTurn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *db) releaseTurn() { <-s.writeTurn }

// dataVersion tells whether another program has written: each connection counts that by itself.
type dataVersion struct{ connection, data int64 }

// detectOtherWriters forgets what is kept in memory after another program has written.
func (s *db) detectOtherWriters(ctx context.Context, db queries.DBTX) error {
	var now dataVersion
	if err := db.QueryRowContext(ctx, "PRAGMA data_version").Scan(&now.data); err != nil {
		return err
	}
	if now.connection = s.connections.Load(); now != s.version {
		s.cache.clear()
		s.version = now
	}
	return nil
}

// refreshCache forgets what is kept in memory if another program has written. While something is written
// here, that was done as it began.
func (s *db) refreshCache(ctx context.Context) error {
	if s.writer == nil {
		return nil
	}
	select {
	case s.writeTurn <- struct{}{}:
		defer s.releaseTurn()
	default:
		return nil
	}
	return machineError(s.detectOtherWriters(ctx, s.writer))
}

// contextError returns the context's error where err only says that the end of the context
// has undone the transaction.
func contextError(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
