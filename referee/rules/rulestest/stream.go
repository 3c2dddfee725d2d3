package rulestest

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// NaiveStream returns the stream of SPEC.md, "Seeds and deals", for naive rules: it
// draws numbers below a limit.
func NaiveStream(seed [32]byte) func(uint64) int {
	var block uint64
	var ready []uint32
	return func(limit uint64) int {
		for {
			if len(ready) == 0 {
				sum := sha256.Sum256(binary.BigEndian.AppendUint64(slices.Clone(seed[:]), block))
				block++
				for i := 0; i < 32; i += 4 {
					ready = append(ready, binary.BigEndian.Uint32(sum[i:]))
				}
			}
			v := uint64(ready[0])
			ready = ready[1:]
			if v < 1<<32/limit*limit {
				return int(v % limit)
			}
		}
	}
}
