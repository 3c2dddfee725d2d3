package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// Seed is the seed that determines all randomness of a game or a match.
type Seed [32]byte

// Derive returns a new seed, the SHA-256 hash of s followed by label. The section "Seeds and deals" of
// SPEC.md lists the labels.
func (s Seed) Derive(label string) Seed {
	return sha256.Sum256(append(s[:], label...))
}

// Stream is a stream of random numbers. A copy of a Stream gives the same numbers as the original, independently of
// it. NewStream returns a stream based on SHA-256, which SPEC.md, "Seeds and deals", defines for programs in any
// language. FastStream returns a faster one for random games and training.
type Stream struct {
	seed  Seed
	block uint64
	buf   [sha256.Size]byte
	used  uint8 // number of bytes of buf already drawn
	quick bool
	rand  Rand
}

// NewStream returns a stream of random numbers that are computed from seed by SHA-256. SPEC.md, "Seeds and deals",
// defines them.
func NewStream(seed Seed) Stream {
	return Stream{seed: seed, used: sha256.Size}
}

// FastStream returns a fast stream of random numbers. Its seed is the next number of r.
func FastStream(r *Rand) Stream {
	return Stream{quick: true, rand: Rand{r.Uint64()}}
}

// Uint32 returns the next number of the stream.
func (s *Stream) Uint32() uint32 {
	if s.quick {
		return uint32(s.rand.Uint64() >> 32)
	}
	if s.used == sha256.Size {
		var in [len(s.seed) + 8]byte
		copy(in[:], s.seed[:])
		binary.BigEndian.PutUint64(in[len(s.seed):], s.block)
		s.buf = sha256.Sum256(in[:])
		s.block++
		s.used = 0
	}
	v := binary.BigEndian.Uint32(s.buf[s.used:])
	s.used += 4
	return v
}

// Below returns a random number from 0 to n-1; n must be positive. In a stream of NewStream all are equally likely:
// Below skips each number of the stream that is not less than the largest multiple of n, and returns the remainder of
// the first other number divided by n.
func (s *Stream) Below(n int) int {
	if s.quick {
		return s.rand.Below(n)
	}
	limit := uint64(1<<32) / uint64(n) * uint64(n)
	for {
		if v := uint64(s.Uint32()); v < limit {
			return int(v % uint64(n))
		}
	}
}

// Shuffle puts the elements of p into a random order, by the Fisher-Yates algorithm: for each index i from the last
// down to 1, it swaps element i with a random element from 0 to i.
func Shuffle[T any](s *Stream, p []T) {
	if s.quick {
		r := s.rand
		for i := len(p) - 1; i > 0; i-- {
			j := r.Below(i + 1)
			p[i], p[j] = p[j], p[i]
		}
		s.rand = r
		return
	}
	for i := len(p) - 1; i > 0; i-- {
		j := s.Below(i + 1)
		p[i], p[j] = p[j], p[i]
	}
}

// Rand is a small, fast generator (wyrand) for random games, training and searches. Do not deal the cards of matches
// with it, since its numbers can be predicted. A copy continues independently.
type Rand struct{ x uint64 }

// NewRand returns a generator with the given seed.
func NewRand(seed uint64) *Rand { return &Rand{seed} }

// Uint64 returns the next number.
func (r *Rand) Uint64() uint64 {
	r.x += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(r.x, r.x^0xe7037ed1a0b428db)
	return hi ^ lo
}

// Below returns a random number from 0 to n-1. The probabilities of the numbers differ by less than n/2^32.
func (r *Rand) Below(n int) int {
	return int(r.Uint64() >> 32 * uint64(n) >> 32)
}

// Hex is a seed or a hash of 32 bytes. JSON contains it as a string of hexadecimal digits.
type Hex [32]byte

// MarshalText implements encoding.TextMarshaler. It writes 64 hexadecimal digits.
func (h Hex) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It reads 64 hexadecimal digits in lower case.
func (h *Hex) UnmarshalText(text []byte) error {
	if len(text) == 2*len(h) && bytes.Equal(text, bytes.ToLower(text)) {
		if _, err := hex.Decode(h[:], text); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%q is not 64 hexadecimal digits in lower case", text)
}

// String returns 64 hexadecimal digits.
func (h Hex) String() string { return hex.EncodeToString(h[:]) }
