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
	uses    *sessionUses // nil in a transaction that only reads

	events         []events.Event // published after the commit
	ladderChanges  []ladderChange // applied to the cached ladders after the commit
	changesWaiting bool           // it changes the set of waiting matches
	changesLadders bool           // the cached ladders must be read again after the commit
}

// view runs f in a read-only transaction, so that f sees the database in one state.
func (s *db) view(ctx context.Context, f func(*Tx) error) error {
	begun, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return machineError(err)
	}
	defer begun.Rollback() // it only reads
	return machineError(contextError(ctx, f(&Tx{Queries: queries.New(begun), db: begun, now: s.options.Now(), formula: s.formula})))
}

// viewLadder runs f in a read-only transaction, with the row of the ladder called name. It returns an error if
// there is no such ladder.
func (s *db) viewLadder(ctx context.Context, name string, f func(*Tx, queries.Ladder) error) error {
	return s.view(ctx, func(tx *Tx) error {
		l, err := tx.ladder(ctx, name)
		if err != nil {
			return err
		}
		return f(tx, l)
	})
}

// update runs f in a transaction that can write. If f returns nil, update commits; then, before the next
// transaction can begin, it updates the cached ladders and publishes the events that f has added. If f returns
// an error, nothing changes.
func (s *db) update(ctx context.Context, f func(*Tx) error) error {
	if s.options.ReadOnly {
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
	tx := &Tx{Queries: queries.New(begun), db: begun, now: s.options.Now(), formula: s.formula, uses: &s.uses}
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

func (tx *Tx) exec(ctx context.Context, statement string, args ...any) error {
	_, err := tx.db.ExecContext(ctx, statement, args...)
	return err
}

// queryStrings runs a query with one text column and returns the values of the column.
func (tx *Tx) queryStrings(ctx context.Context, query string, args ...any) (list []string, err error) {
	err = tx.eachRow(ctx, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		list = append(list, text)
		return err
	}, query, args...)
	return list, err
}

// eachRow runs a query and calls f for each row of the result. f reads the columns of the row by calling scan with
// pointers to variables.
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

// columns returns the names of all columns of a table except generated ones, and the names of the columns of
// its primary key.
func (tx *Tx) columns(ctx context.Context, table string) (columns, key []string, err error) {
	if columns, err = tx.queryStrings(ctx, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table); err != nil {
		return nil, nil, err
	}
	key, err = tx.queryStrings(ctx, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table)
	return columns, key, err
}

func (tx *Tx) addEvent(e events.Event) { tx.events = append(tx.events, e) }

// addLadderChange registers f to be called with a cached ladder after the transaction has been committed. If
// ladderID is 0, f is called for every cached ladder.
func (tx *Tx) addLadderChange(ladderID int64, f func(*ladderState)) {
	tx.ladderChanges = append(tx.ladderChanges, ladderChange{ladderID, f})
}

// acquireTurn waits until no other transaction of this store writes. The caller must call releaseTurn afterwards.
func (s *db) acquireTurn(ctx context.Context) error {
	select {
	case s.writeTurn.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *db) releaseTurn() { <-s.writeTurn.slot }

// dataVersion is a pair of numbers that changes when another program has written to the database. SQLite
// counts such writes for each connection, so the pair includes the number of the connection.
type dataVersion struct{ connection, data int64 }

// detectOtherWriters clears the cache if another program has written to the database. The caller must have
// called acquireTurn.
func (s *db) detectOtherWriters(ctx context.Context, db queries.DBTX) error {
	var now dataVersion
	if err := db.QueryRowContext(ctx, "PRAGMA data_version").Scan(&now.data); err != nil {
		return err
	}
	if now.connection = s.connections.Load(); now != s.writeTurn.version {
		s.cache.clear()
		s.writeTurn.version = now
	}
	return nil
}

// refreshCache clears the cache if another program has written to the database. While a transaction of this
// store writes, it does nothing, because update has checked that already.
func (s *db) refreshCache(ctx context.Context) error {
	if s.writer == nil {
		return nil
	}
	select {
	case s.writeTurn.slot <- struct{}{}:
		defer s.releaseTurn()
	default:
		return nil
	}
	return machineError(s.detectOtherWriters(ctx, s.writer))
}

// contextError returns the error of ctx if err means only that the transaction was rolled back because ctx ended.
// Otherwise it returns err.
func contextError(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
