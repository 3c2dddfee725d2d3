package run

import (
	"encoding/binary"
	"fmt"

	"github.com/timba-arena/timba/rules"
)

// Shuffle randomly reorders list in place, using r.
func Shuffle[T any](list []T, r *rules.Rand) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.Below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// DeriveSeed returns the seed for one part of a training. It depends only on seed, which is the seed of the
// training, and on the name and number of the part. The parts can therefore be computed in any order.
func DeriveSeed(seed uint64, name string, number int) uint64 {
	var s rules.Seed
	binary.LittleEndian.PutUint64(s[:], seed)
	d := s.Derive(fmt.Sprintf("train/%s/%d", name, number))
	return binary.LittleEndian.Uint64(d[:])
}
