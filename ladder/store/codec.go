package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// codec compresses replays and logs with zstd.
type codec struct {
	store *Store
	enc   *zstd.Encoder
	dec   *zstd.Decoder
	mu    sync.Mutex
}

// maxDocument is more than any replay or log has: what unpacks to more is damaged.
const maxDocument = 256 << 20

func newCodec(_ context.Context, s *Store) (*codec, error) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxDocument))
	if err != nil {
		return nil, err
	}
	return &codec{store: s, enc: enc, dec: dec}, nil
}

// pack compresses a log.
func (c *codec) pack(data []byte) []byte { return c.enc.EncodeAll(data, nil) }

func (c *codec) unpack(data []byte) ([]byte, error) {
	out, err := c.dec.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("compressed data are damaged: %w", err)
	}
	return out, nil
}

func (c *codec) packReplay(data []byte) []byte { return c.pack(data) }

func (c *codec) dictionary() sql.NullInt64 { return sql.NullInt64{} }

// unpackReplay gives the document, byte for byte; its size is known.
func (c *codec) unpackReplay(_ context.Context, _ sql.NullInt64, size int64, data []byte) ([]byte, error) {
	out, err := c.unpack(data)
	if err == nil && int64(len(out)) != size {
		err = fmt.Errorf("compressed data are damaged: %d bytes where there were %d", len(out), size)
	}
	return out, err
}
