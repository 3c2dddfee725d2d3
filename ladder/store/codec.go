package store

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// codec compresses documents, which are all replays or all logs of a match, with zstd, whose checksums reveal
// damage. It has no trained dictionary: the replays of a match are so alike that a dictionary saves little more.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// maxDocument is an upper bound for the size of a document (all replays or all logs of a match) before compression,
// in bytes.
const maxDocument = 256 << 20

// smallDocument is the initial buffer size, in bytes, to decompress data that do not state their size. The
// encoder omits the size only for smaller documents.
const smallDocument = 256

func newCodec() (*codec, error) {
	// There is an encoder for each core, and each keeps a window: 16 MB by default.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
		zstd.WithWindowSize(2<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxDocument), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	return &codec{enc: enc, dec: dec}, nil
}

func (c *codec) pack(data []byte) []byte { return c.enc.EncodeAll(data, nil) }

// unpack returns the data that pack compressed, or an error if they are damaged or larger than maxDocument.
func (c *codec) unpack(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, nil
	}
	size := uint64(smallDocument)
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		return nil, fmt.Errorf("compressed data are damaged: %w", err)
	}
	if h.HasFCS {
		size = h.FrameContentSize
	}
	if size > maxDocument {
		return nil, fmt.Errorf("compressed data are damaged: they have %d bytes, and %d are the limit", size, maxDocument)
	}
	out, err := c.dec.DecodeAll(data, make([]byte, 0, size))
	if err != nil {
		return nil, fmt.Errorf("compressed data are damaged: %w", err)
	}
	return out, nil
}
