package store

import (
	"database/sql"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/timba-arena/timba/ladder"
)

func unavailable(hint, format string, args ...any) error {
	return ladder.Errorf(ladder.Unavailable, hint, format, args...)
}

func invalid(hint, format string, args ...any) error {
	return ladder.Errorf(ladder.Invalid, hint, format, args...)
}

func conflict(hint, format string, args ...any) error {
	return ladder.Errorf(ladder.Conflict, hint, format, args...)
}

func notFound(hint, format string, args ...any) error {
	return ladder.Errorf(ladder.NotFound, hint, format, args...)
}

// none turns a query's empty answer into another error, and leaves all else.
func none(err, instead error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return instead
	}
	return err
}

// explain tells a machine that cannot (full, read-only, broken) from failures of
// our own. Nothing of the transaction is kept in either case.
func explain(err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) || ladder.CodeOf(err) != "" {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return unavailable("make room on it", "data: the disk is full: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return unavailable("let the server write to its folder", "data: the database is read-only: %w", err)
	case sqlite3.SQLITE_CANTOPEN:
		return unavailable("look at the folder, its owner and its rights", "data: the database cannot be opened: %w", err)
	case sqlite3.SQLITE_IOERR:
		return unavailable("look at the disk: is it full or failing?", "data: the disk cannot be read or written: %w", err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return unavailable("try again; end other programs that write to it", "data: the database is in use: %w", err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return unavailable("stop the server and restore a backup; timba admin verify tells what is broken", "data: the database is damaged: %w", err)
	}
	return err
}

// duplicate tells whether an error is that of a value which must be unique.
func duplicate(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}
