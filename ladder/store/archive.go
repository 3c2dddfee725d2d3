package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	renameio "github.com/google/renameio/v2/maybe"

	"github.com/timba-arena/timba/ladder/datadir"
)

// digest is a SHA-256. It identifies an archive file, whose name it is, or a compressed document, which is all
// replays or all logs of a match.
type digest [sha256.Size]byte

func digestOf(data []byte) digest { return sha256.Sum256(data) }

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// archive is the path of a directory of files with the replays and logs of old matches. The files never change. The
// first call of put creates the directory. Only one process at a time may write to it.
type archive string

func (a archive) path(d digest) string { return filepath.Join(string(a), d.String()) }

// put writes data to a file and returns the digest of the data. When it returns nil, the file is safely on the disk.
// If it fails or the process is killed, the file is either complete or does not exist. If a file with this digest and
// size exists already, put leaves it unchanged.
func (a archive) put(data []byte) (digest, error) {
	d := digestOf(data)
	if err := os.MkdirAll(string(a), 0o700); err != nil {
		return d, err
	}
	if info, err := os.Stat(a.path(d)); err != nil || info.Size() != int64(len(data)) {
		if err := renameio.WriteFile(a.path(d), data, 0o600); err != nil {
			return d, err
		}
	}
	return d, datadir.Sync(string(a))
}

// read returns a part of the file with the digest d: length bytes, beginning at the offset start. The error wraps
// fs.ErrNotExist if there is no such file, and io.ErrUnexpectedEOF if the file is too short. read does not check the
// digest.
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
