package store

import (
	"context"
	"fmt"
	"os"
)

// Backup writes a copy of the database, as it is at one moment, to a new file,
// while matches go on.
func (s *Store) Backup(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return conflict("name one that does not exist", "backup: %q exists", path)
	}
	if _, err := s.readers.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		os.Remove(path)
		return fmt.Errorf("backup: %w", explain(err))
	}
	return nil
}
