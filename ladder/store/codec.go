package store

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// codec compresses documents with zstd. Its frames have a checksum: damage is noticed.
//
// All replays of a match are compressed together. A dictionary on top of that saves 6 % at most at this level,
// and costs where replays are long, since a match repeats its own words: lab/results/replays-compression.csv.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// maxDocument is more than any replay or log has: what unpacks to more is damaged.
const maxDocument = 256 << 20

// smallDocument is more than a document has whose frame does not tell its size.
const smallDocument = 256

func newCodec() (*codec, error) {
	// An encoder keeps a window, and there is one for each core: 16 MB each if this did not make it smaller.
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

// unpack returns the document that pack compressed. It takes the memory of one document, whatever the data are.
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
