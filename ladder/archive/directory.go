package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// unfinished begins the names of files that are not written to their end.
const unfinished = ".new-"

// directory is a directory of files.
type directory string

// Directory returns the store in a directory, which the first Put makes. Only one process may
// write to it.
func Directory(path string) Store { return directory(path) }

func (d directory) path(sum Sum) string { return filepath.Join(string(d), sum.String()) }

// Put writes the file beside its place, brings it to the disk and renames it.
func (d directory) Put(ctx context.Context, data []byte) (Sum, error) {
	sum := SumOf(data)
	if err := ctx.Err(); err != nil {
		return sum, err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return sum, err
	}
	if info, err := os.Stat(d.path(sum)); err == nil && info.Size() == int64(len(data)) {
		return sum, syncPath(string(d))
	}
	f, err := os.CreateTemp(string(d), unfinished)
	if err != nil {
		return sum, err
	}
	defer os.Remove(f.Name()) // where it was not renamed
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return sum, err
	}
	if err := os.Rename(f.Name(), d.path(sum)); err != nil {
		return sum, err
	}
	return sum, syncPath(string(d))
}

// Read reads a part of a file.
func (d directory) Read(ctx context.Context, sum Sum, start, length int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(d.path(sum))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if start < 0 || length < 0 || start > info.Size() || length > info.Size()-start {
		return nil, fmt.Errorf("archive: file %s has %d bytes, not %d from %d on: %w", sum, info.Size(), length, start, io.ErrUnexpectedEOF)
	}
	data := make([]byte, length)
	if _, err := f.ReadAt(data, start); err != nil {
		return nil, fmt.Errorf("archive: file %s: %w", sum, err)
	}
	return data, nil
}

// List reads the directory.
func (d directory) List(ctx context.Context) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		entries, err := os.ReadDir(string(d)) // by name
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(File{}, err)
			return
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				yield(File{}, err)
				return
			}
			sum, err := ParseSum(e.Name())
			if err != nil {
				continue
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			if err != nil {
				yield(File{}, err)
				return
			}
			if !yield(File{sum, info.Size()}, nil) {
				return
			}
		}
	}
}

// Remove removes a file.
func (d directory) Remove(ctx context.Context, sum Sum) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Remove(d.path(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Clean removes the files that were not written to their end.
func (d directory) Clean(ctx context.Context) error {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinished) {
			err = errors.Join(err, ctx.Err(), os.Remove(filepath.Join(string(d), e.Name())))
		}
	}
	return err
}

// syncPath brings the list of files of a directory to the disk.
func syncPath(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Sync() // some systems cannot, and keep the order themselves
	return nil
}
