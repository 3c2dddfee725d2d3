// Package archive stores files that never change, under the SHA-256 of their bytes: the old
// replays and logs of a competition. Begin with Directory.
package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Sum is the SHA-256 of a file, which is its name.
type Sum [sha256.Size]byte

// String returns the sum in hexadecimal.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// SumOf returns the sum of a file's bytes.
func SumOf(data []byte) Sum { return sha256.Sum256(data) }

// ParseSum returns the sum that a file's name is.
func ParseSum(name string) (s Sum, err error) {
	data, err := hex.DecodeString(name)
	if err != nil || len(data) != len(s) || hex.EncodeToString(data) != name {
		return s, fmt.Errorf("archive: file %q is not named by a SHA-256 in hexadecimal", name)
	}
	return Sum(data), nil
}

// File is a file of a directory.
type File struct {
	Sum  Sum
	Size int64 // bytes
}

// unfinished begins the names of files that are not written to their end.
const unfinished = ".new-"

// Directory is the path of a directory of files, which the first Put makes. Only one process may
// write to it. The methods may be called from any goroutine.
type Directory string

func (d Directory) path(sum Sum) string { return filepath.Join(string(d), sum.String()) }

// Put keeps a file whole and returns its sum. When it returns the file is there for ever,
// whatever happens to the machine; when it fails, or is killed, the file is there whole or
// not at all. A file that is there already stays as it is.
func (d Directory) Put(ctx context.Context, data []byte) (Sum, error) {
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

// Read returns length bytes of a file from start on. The error is fs.ErrNotExist where there
// is no such file, and io.ErrUnexpectedEOF where it ends before. It does not compare the
// file with its sum.
func (d Directory) Read(ctx context.Context, sum Sum, start, length int64) ([]byte, error) {
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

// List returns all files in the order of their sums. Files that were not written to their end are none.
func (d Directory) List(ctx context.Context) iter.Seq2[File, error] {
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

// Remove removes a file; one that is not there is no error.
func (d Directory) Remove(ctx context.Context, sum Sum) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Remove(d.path(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Clean removes what Puts that were killed have left. Nobody may Put meanwhile.
func (d Directory) Clean(ctx context.Context) error {
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
