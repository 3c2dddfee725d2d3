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

func newCodec() (*codec, error) {
	// An encoder keeps a window, and there is one for each core: 16 MB each if this did not make it smaller.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
		zstd.WithWindowSize(2<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxDocument))
	if err != nil {
		return nil, err
	}
	return &codec{enc: enc, dec: dec}, nil
}

func (c *codec) pack(data []byte) []byte { return c.enc.EncodeAll(data, nil) }

func (c *codec) unpack(data []byte) ([]byte, error) {
	out, err := c.dec.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("compressed data are damaged: %w", err)
	}
	return out, nil
}
