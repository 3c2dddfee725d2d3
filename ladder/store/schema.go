package store

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// schema is the SQL schema of a database. schemaVersion is its version, stored as PRAGMA user_version; each
// change of the schema increments it.
//
//go:embed schema.sql
var schema string

const schemaVersion = 22

// prepareSchema creates the schema in an empty database. It returns an error if the database has another
// version of the schema.
func (s *Store) prepareSchema(ctx context.Context) error {
	var version, tables int
	err := s.readers.QueryRowContext(ctx, "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version").Scan(&version, &tables)
	switch {
	case err != nil:
		return err
	case version == schemaVersion:
		return s.checkFormula(ctx)
	case version > schemaVersion:
		return unavailable("use the timba that wrote it, or a newer one",
			"data: the database in %q has schema %d, and this timba knows none above %d", s.dir, version, schemaVersion)
	case tables > 0:
		return unavailable("begin in a new directory: this timba does not read it",
			"data: the database in %q has schema %d, and this timba reads %d", s.dir, version, schemaVersion)
	case s.lock == nil:
		return unavailable("start the server there first", "data: the database in %q is empty", s.dir)
	}
	_, err = s.writer.ExecContext(ctx, "BEGIN IMMEDIATE;\n"+schema+fmt.Sprintf("PRAGMA user_version = %d; INSERT INTO formula VALUES (?); COMMIT;", schemaVersion), s.formula.Fingerprint())
	return err
}

// checkFormula returns an error if the store is opened for a server and its ratings were computed by another
// version of the rating formula.
func (s *Store) checkFormula(ctx context.Context) error {
	if !s.options.Server {
		return nil
	}
	stored, err := queries.New(s.readers).Formula(ctx)
	if err == nil && stored != s.formula.Fingerprint() {
		err = unavailable("", "data: the ratings in %q were computed by other constants than those of this timba", s.dir).Try(ladder.HintRerate, s.dir)
	}
	return err
}
