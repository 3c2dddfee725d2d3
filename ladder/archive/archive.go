// Package archive stores files that never change, under the SHA-256 of their bytes: the old
// replays and logs of a competition. Directory stores them in a directory.
package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
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

// File is a file of a store.
type File struct {
	Sum  Sum
	Size int64 // bytes
}

// Store is a place for files. Its methods may be called from any goroutine.
type Store interface {
	// Put keeps a file whole and returns its sum. When it returns the file is there for ever,
	// whatever happens to the machine; when it fails, or is killed, the file is there whole or
	// not at all. A file that is there already stays as it is.
	Put(ctx context.Context, data []byte) (Sum, error)
	// Read returns length bytes of a file from start on. The error is fs.ErrNotExist where there
	// is no such file, and io.ErrUnexpectedEOF where it ends before. It does not compare the
	// file with its sum.
	Read(ctx context.Context, sum Sum, start, length int64) ([]byte, error)
	// List returns all files in the order of their sums. Files that were not written to their end are none.
	List(ctx context.Context) iter.Seq2[File, error]
	// Remove removes a file; one that is not there is no error.
	Remove(ctx context.Context, sum Sum) error
	// Clean removes what Puts that were killed have left. Nobody may Put meanwhile.
	Clean(ctx context.Context) error
}
