package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/timba-arena/timba/ladder"
)

// ErrAttemptOver means that an attempt (a try to play a match) has ended, or is not the latest one of its match.
// Errors of the store wrap it.
var ErrAttemptOver = errors.New("the attempt is over")

func unavailable(hint, format string, args ...any) *ladder.Error {
	return ladder.Errorf(ladder.Unavailable, hint, format, args...)
}

func invalid(hint, format string, args ...any) *ladder.Error {
	return ladder.Errorf(ladder.Invalid, hint, format, args...)
}

func conflict(hint, format string, args ...any) *ladder.Error {
	return ladder.Errorf(ladder.Conflict, hint, format, args...)
}

func notFound(hint, format string, args ...any) *ladder.Error {
	return ladder.Errorf(ladder.NotFound, hint, format, args...)
}

// ifNoRows returns err, except if err means that a query returned no rows. In that case it returns the second
// argument, which may be nil.
func ifNoRows(err, instead error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return instead
	}
	return err
}

// machineError turns an error of the machine, such as a full or broken disk, into an error with a text and a
// hint for users. It returns other errors unchanged.
func machineError(err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) || ladder.CodeOf(err) != "" {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return unavailable("make room on it", "data: the disk is full: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return unavailable("let the server write to its directory", "data: the database is read-only: %w", err)
	case sqlite3.SQLITE_CANTOPEN:
		return unavailable("check the directory, its owner and its permissions", "data: the database cannot be opened: %w", err)
	case sqlite3.SQLITE_IOERR:
		return unavailable("check whether the disk is full or failing", "data: the disk cannot be read or written: %w", err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return unavailable("try again; end other programs that write to it", "data: the database is in use: %w", err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return unavailable(ladder.HintRepair, "data: the database is damaged: %w", err)
	}
	return err
}

func isDuplicate(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// isDatabase reports whether err comes from the database or from a context that has ended, and not from the
// content of rows.
func isDatabase(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, driver.ErrBadConn)
}
