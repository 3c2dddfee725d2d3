package store

import (
	"context"
	_ "embed"
	"fmt"
)

// schema is the schema of a database; schemaVersion, its PRAGMA user_version, counts its changes.
//
//go:embed schema.sql
var schema string

const schemaVersion = 11

// prepareSchema gives an empty database its schema, and refuses another than this program's.
func (s *Store) prepareSchema(ctx context.Context) error {
	var version, tables int
	err := s.readers.QueryRowContext(ctx, "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version").Scan(&version, &tables)
	switch {
	case err != nil:
		return err
	case version == schemaVersion:
		return nil
	case version > schemaVersion:
		return unavailable("use the timba that wrote it, or a newer one",
			"data: the database in %q has schema %d, and this timba knows none above %d", s.dir, version, schemaVersion)
	case tables > 0:
		return unavailable("begin in a new directory: this timba does not read it",
			"data: the database in %q has schema %d, and this timba reads %d", s.dir, version, schemaVersion)
	case s.lock == nil:
		return unavailable("start the server there first", "data: the database in %q is empty", s.dir)
	}
	_, err = s.writer.ExecContext(ctx, "BEGIN IMMEDIATE;\n"+schema+fmt.Sprintf("PRAGMA user_version = %d; COMMIT;", schemaVersion))
	return err
}
