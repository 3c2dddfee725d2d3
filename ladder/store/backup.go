package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
)

// partialSuffix is the end of the name of a backup that is not complete.
const partialSuffix = ".partial"

// Backup creates the directory dir with everything that a server needs to continue from this moment: the
// database, the uploads, the archive and the configuration. The new directory is a data directory itself: it
// can be verified like any other, and copying it back restores the data. Built bots are not included, because a
// server builds them again from the uploads. Matches go on during a backup.
//
// config is the path of the configuration file. If config is empty, Backup copies the configuration file of the
// data directory, if there is one.
//
// The directory is created completely or not at all.
func (s *Store) Backup(ctx context.Context, dir, config string) (err error) {
	if _, err := os.Lstat(dir); err == nil {
		return conflict("name a directory that does not exist", "backup: %q exists", dir)
	}
	tmp := dir + partialSuffix
	to := datadir.Dir(tmp)
	if err := os.RemoveAll(tmp); err != nil { // left by an interrupted backup
		return backupError(err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(tmp)
			err = backupError(err)
		}
	}()
	for try := 1; ; try++ {
		if err := os.MkdirAll(to.Bundles(), 0o700); err != nil {
			return err
		}
		if err := s.copyDatabase(ctx, to.Database()); err != nil {
			return err
		}
		err := s.copyFiles(ctx, to, config)
		if err == nil {
			break
		}
		// A version may have failed since the database was copied, and its upload may have been deleted.
		missing := new(missingUpload)
		if !errors.As(err, missing) || try == 5 {
			return err
		}
		if needed, e := s.Versions.Bundles(ctx); e != nil || slices.Contains(needed, missing.hash) {
			return cmp.Or(e, err)
		}
		if err := os.RemoveAll(tmp); err != nil {
			return err
		}
	}
	for _, d := range []string{to.Bundles(), tmp} {
		if err := datadir.Sync(d); err != nil {
			return err
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		return err
	}
	return datadir.Sync(filepath.Dir(dir))
}

func backupError(err error) error {
	if ladder.CodeOf(err) != "" || errors.Is(err, context.Canceled) {
		return err
	}
	if err := machineError(err); ladder.CodeOf(err) != "" {
		return err
	}
	return unavailable("check the disk and the permissions of the directory", "backup: %w", err)
}

// missingUpload is the error for an upload that the copied database needs but that does not exist.
type missingUpload struct {
	error
	hash string
}

func (m missingUpload) Unwrap() error { return m.error }

// copyDatabase writes a consistent copy of the database to a new file at path.
func (s *Store) copyDatabase(ctx context.Context, path string) error {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// VACUUM INTO only reads from this database, but query_only refuses it.
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = 1")
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	return datadir.Sync(path)
}

// copyFiles copies files to the backup directory target, which already has the copied database. It copies the uploads
// and archive files to which that database refers, and the configuration file config. If config is empty, it copies
// the configuration file of the data directory, if there is one.
func (s *Store) copyFiles(ctx context.Context, target datadir.Dir, config string) error {
	copied, err := Open(string(target), Options{Now: s.options.Now, ReadOnly: true})
	if err != nil {
		return err
	}
	hashes, err := copied.Versions.Bundles(ctx)
	if err == nil {
		err = s.copyArchive(ctx, copied, target)
	}
	if err := errors.Join(err, copied.Close()); err != nil {
		return err
	}
	for _, h := range hashes {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, err := s.dir.Bundle(h)
		if err != nil {
			return err
		}
		copied, err := target.Bundle(h)
		if err != nil {
			return err
		}
		err = copyFile(copied, from)
		if errors.Is(err, fs.ErrNotExist) {
			return missingUpload{unavailable(ladder.HintMissing, "backup: upload %s is missing", h), h}
		}
		if err != nil {
			return err
		}
	}
	if config != "" {
		return copyFile(target.Config(), config)
	}
	if err := copyFile(target.Config(), s.dir.Config()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyArchive copies to the backup directory target every archive file to which the copied database refers. It fails
// if a file is missing or if the file's SHA-256 is not the one in its name.
func (s *Store) copyArchive(ctx context.Context, copied *Store, target datadir.Dir) error {
	rows, err := copied.read.Archives(ctx)
	if err != nil {
		return err
	}
	into := archive(target.Archive())
	for _, r := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		sum := digest(r.Hash)
		data, err := s.archive.read(sum, 0, r.Size)
		if err != nil {
			return unavailable(ladder.HintMissing, "backup: archive file %s cannot be read: %w", sum, err)
		}
		put, err := into.put(data)
		if err != nil {
			return err
		}
		if put != sum {
			return unavailable(ladder.HintDamaged, "backup: archive file %s has the SHA-256 %s", sum, put)
		}
	}
	return nil
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return out.Sync()
}
