package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/timba-arena/timba/ladder/datadir"
)

// digest is the SHA-256 of a document or of an archive file, whose name it is.
type digest [sha256.Size]byte

func digestOf(data []byte) digest { return sha256.Sum256(data) }

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// archive is the path of a directory of files that never change, which the first put makes: the
// replays and logs of old matches. Only one process may write to it.
type archive string

// unfinished begins the names of files that are not written to their end.
const unfinished = ".new-"

func (a archive) path(d digest) string { return filepath.Join(string(a), d.String()) }

// put keeps a file whole and returns its digest. When it returns the file is there for ever,
// whatever happens to the machine; when it fails, or is killed, the file is there whole or
// not at all. A file that is there already stays as it is.
func (a archive) put(data []byte) (digest, error) {
	d := digestOf(data)
	if err := os.MkdirAll(string(a), 0o700); err != nil {
		return d, err
	}
	if info, err := os.Stat(a.path(d)); err == nil && info.Size() == int64(len(data)) {
		return d, datadir.Sync(string(a))
	}
	f, err := os.CreateTemp(string(a), unfinished)
	if err != nil {
		return d, err
	}
	defer os.Remove(f.Name()) // where it was not renamed
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return d, err
	}
	if err := os.Rename(f.Name(), a.path(d)); err != nil {
		return d, err
	}
	return d, datadir.Sync(string(a))
}

// read returns length bytes of a file from start on. The error is fs.ErrNotExist where there
// is no such file, and io.ErrUnexpectedEOF where it ends before. It does not compare the
// file with its digest.
func (a archive) read(d digest, start, length int64) ([]byte, error) {
	f, err := os.Open(a.path(d))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if start < 0 || length < 0 || start > info.Size() || length > info.Size()-start {
		return nil, fmt.Errorf("archive: file %s has %d bytes, not %d from %d on: %w", d, info.Size(), length, start, io.ErrUnexpectedEOF)
	}
	data := make([]byte, length)
	if _, err := f.ReadAt(data, start); err != nil {
		return nil, fmt.Errorf("archive: file %s: %w", d, err)
	}
	return data, nil
}

// list returns all files in the order of their digests. Files that were not written to their end are none.
func (a archive) list() (files []digest, err error) {
	entries, err := os.ReadDir(string(a)) // by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if data, err := hex.DecodeString(e.Name()); err == nil && datadir.IsHash(e.Name()) {
			files = append(files, digest(data))
		}
	}
	return files, err
}

// remove removes a file; one that is not there is no error.
func (a archive) remove(d digest) error {
	if err := os.Remove(a.path(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// clean removes what puts that were killed have left. Nobody may put meanwhile.
func (a archive) clean() error {
	entries, err := os.ReadDir(string(a))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(string(a), e.Name())))
		}
	}
	return err
}
