package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date. Only who has the directory's lock may do so:
// a server that runs must not have it changed under its feet. A schema that is
// newer than this program is refused.
func (s *Store) migrate(ctx context.Context) error {
	db := s.writer
	if db == nil {
		db = s.readers
	}
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("data: migrations: %w", err)
	}
	sources := p.ListSources()
	newest := sources[len(sources)-1].Version
	have, err := s.schema(ctx)
	switch {
	case err != nil:
		return err
	case have > newest:
		return unavailable("use the timba that wrote it, or a newer one",
			"data: the database in %q has schema %d, and this timba knows none above %d", s.dir, have, newest)
	case have == newest:
		return nil
	case s.readOnly:
		return unavailable("start the server once to bring it up to date",
			"data: the database in %q has schema %d, and this timba reads %d", s.dir, have, newest)
	case s.lock == nil:
		if err := s.takeLock(); err != nil {
			return err
		}
		defer func() {
			s.lock.Unlock()
			s.lock = nil
		}()
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("data: migration: %w", err)
	}
	return nil
}

// schema returns the version of the database's schema, 0 for an empty one.
func (s *Store) schema(ctx context.Context) (version int64, err error) {
	var there bool
	err = s.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?)", goose.DefaultTablename).Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	err = s.readers.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+goose.DefaultTablename).Scan(&version)
	return version, err
}
