package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/datadir"
)

// openStore opens a store of files and directories in dir. The name of each entry is its hash, which the function
// hash computes from the path of the entry. All entries together have at most maxBytes. Entries of earlier runs are
// checked before they are used.
func openStore(dir string, maxBytes int64, hash func(path string) (string, error), log *slog.Logger) (*trees.Store, error) {
	s := trees.NewStore(dir, trees.Options{Limits: trees.Limits{Bytes: maxBytes}, IsKey: datadir.IsHash, Hash: hash, Log: log})
	if _, err := s.Evict(s.Limits, nil); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	return s, nil
}

var errNoBot = errors.New("the server does not have it")

// reader returns a reader of the packed files of a bot. It calls part for each part that it needs. After an
// error the reader can be used again and continues where it stopped.
func (b build) reader(part func(filePart) ([]byte, error)) io.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(packedBot{b.Tree, part}, 0, b.Size), PartSize)
}

// packedBot reads the packed files of a bot, part by part.
type packedBot struct {
	tree string
	part func(filePart) ([]byte, error)
}

// ReadAt implements io.ReaderAt.
func (p packedBot) ReadAt(b []byte, offset int64) (int, error) {
	part, err := p.part(filePart{p.tree, offset})
	return copy(b, part), err
}
