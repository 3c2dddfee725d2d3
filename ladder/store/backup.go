package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
)

// partial is the end of the name of a backup that is not complete.
const partial = ".partial"

// Backup makes a new folder with all that a server needs to go on from this
// moment: the database, the uploads and the configuration. It is a data folder
// itself, so restoring is copying it back, and Verify looks into it like into any
// other. What runs is built again from the uploads. Matches go on meanwhile.
//
// The folder is there whole or not at all.
func (s *Store) Backup(ctx context.Context, dir string) (err error) {
	if _, err := os.Lstat(dir); err == nil {
		return conflict("name a folder that does not exist", "backup: %q exists", dir)
	}
	tmp := dir + partial
	if err := os.RemoveAll(tmp); err != nil { // of an attempt that was ended
		return backupError(err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(tmp)
			err = backupError(err)
		}
	}()
	if err := os.MkdirAll(filepath.Join(tmp, bundleFolder), 0o700); err != nil {
		return err
	}
	if err := s.copyDatabase(ctx, filepath.Join(tmp, databaseFile)); err != nil {
		return err
	}
	if err := s.copyFiles(ctx, tmp); err != nil {
		return err
	}
	for _, d := range []string{filepath.Join(tmp, bundleFolder), tmp} {
		if err := syncPath(d); err != nil {
			return err
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		return err
	}
	return syncPath(filepath.Dir(dir))
}

func backupError(err error) error {
	if ladder.CodeOf(err) != "" || errors.Is(err, context.Canceled) {
		return err
	}
	if err := explain(err); ladder.CodeOf(err) != "" {
		return err
	}
	return unavailable("look at the disk and at the rights of the folder", "backup: %w", err)
}

// copyDatabase writes the database as it is at one moment.
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
	return syncPath(path)
}

// copyFiles copies the uploads that the copied database knows, and the
// configuration. Uploads are there before their versions and never change.
func (s *Store) copyFiles(ctx context.Context, to string) error {
	copied, err := Open(to, Options{Now: s.now, ReadOnly: true})
	if err != nil {
		return err
	}
	hashes, err := copied.Bundles(ctx)
	if err := errors.Join(err, copied.Close()); err != nil {
		return err
	}
	for _, h := range hashes {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, err := bundle.Path(s.dir, h)
		if err != nil {
			return err
		}
		err = copyFile(filepath.Join(to, bundleFolder, h), from)
		if errors.Is(err, fs.ErrNotExist) {
			return unavailable("timba admin verify lists all that is missing", "backup: upload %s is missing", h)
		}
		if err != nil {
			return err
		}
	}
	err = copyFile(filepath.Join(to, ladder.ConfigFile), filepath.Join(s.dir, ladder.ConfigFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
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

// syncPath brings a file or a folder's list of files to the disk.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if info, stat := f.Stat(); err != nil && stat == nil && info.IsDir() {
		return nil // some systems cannot, and keep the order themselves
	}
	return err
}
