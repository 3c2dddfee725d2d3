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
	db      queries.DBTX // runs statements that are not in package queries
	now     time.Time    // time stamp of everything that it writes
	formula rating.Formula

	events         []events.Event // published after the commit
	ladderChanges  []ladderChange // applied to the cached ladders after the commit
	changesWaiting bool           // it changes which matches wait
	changesLadders bool           // it changes the ladders so much that they are read again
}

// view runs f in a read-only transaction, which sees one state of the database.
func (s *db) view(ctx context.Context, f func(*Tx) error) error {
	begun, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return machineError(err)
	}
	defer begun.Rollback() // it only reads
	return machineError(contextError(ctx, f(&Tx{Queries: queries.New(begun), db: begun, now: s.now(), formula: s.formula})))
}

// viewLadder is view for the ladder called name. It returns an error if there is none.
func (s *db) viewLadder(ctx context.Context, name string, f func(*Tx, queries.Ladder) error) error {
	return s.view(ctx, func(tx *Tx) error {
		l, err := tx.ladder(ctx, name)
		if err != nil {
			return err
		}
		return f(tx, l)
	})
}

// update runs f in a transaction. If f returns nil, update commits, applies the changes that f added to the
// cached ladders, and publishes its events, all before the next transaction can begin. If f returns an error,
// nothing changes.
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
	defer begun.Rollback() // no effect after a commit
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

// queryStrings returns the results of a query with one text column.
func (tx *Tx) queryStrings(ctx context.Context, query string, args ...any) (list []string, err error) {
	err = tx.eachRow(ctx, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		list = append(list, text)
		return err
	}, query, args...)
	return list, err
}

// eachRow calls f for each row that a query returns, with the function that scans the row.
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

// columns returns the columns of a table, except generated ones, and the columns of its primary key.
func (tx *Tx) columns(ctx context.Context, table string) (columns, key []string, err error) {
	if columns, err = tx.queryStrings(ctx, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table); err != nil {
		return nil, nil, err
	}
	key, err = tx.queryStrings(ctx, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table)
	return columns, key, err
}

// addEvent adds an event that is published after the commit.
func (tx *Tx) addEvent(e events.Event) { tx.events = append(tx.events, e) }

// addLadderChange adds a change that is applied to the cached ladder after the commit. If ladderID is 0, it is
// applied to all cached ladders.
func (tx *Tx) addLadderChange(ladderID int64, f func(*ladderState)) {
	tx.ladderChanges = append(tx.ladderChanges, ladderChange{ladderID, f})
}

// acquireTurn waits until no other transaction writes. The caller must call releaseTurn.
func (s *db) acquireTurn(ctx context.Context) error {
	select {
	case s.writeTurn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *db) releaseTurn() { <-s.writeTurn }

// dataVersion changes when another program has written to the database. SQLite counts such writes per
// connection.
type dataVersion struct{ connection, data int64 }

// detectOtherWriters clears the cache if another program has written to the database. The caller must hold the
// turn.
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

// refreshCache clears the cache if another program has written to the database. It does nothing while a
// transaction of this store writes, because update has checked that already.
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

// contextError returns the error of the context if err only says that the transaction was undone because the
// context ended.
func contextError(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
