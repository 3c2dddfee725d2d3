package store

import (
	"encoding/binary"
	"errors"
	"math"
)

// part is a document of a match: a replay, or the log of a seat.
type part struct {
	deal, rotation int
	seat           int // 0 of a replay
	data           []byte
}

// joinParts returns the parts as one: their number, then deal, rotation, seat and length of each
// as uvarints, then their bytes.
func joinParts(parts []part) []byte {
	size := binary.MaxVarintLen64
	for _, p := range parts {
		size += 4*binary.MaxVarintLen64 + len(p.data)
	}
	out := binary.AppendUvarint(make([]byte, 0, size), uint64(len(parts)))
	for _, p := range parts {
		for _, n := range []int{p.deal, p.rotation, p.seat, len(p.data)} {
			out = binary.AppendUvarint(out, uint64(n))
		}
	}
	for _, p := range parts {
		out = append(out, p.data...)
	}
	return out
}

var errParts = errors.New("what was compressed is not a list of documents")

// splitParts is the inverse of joinParts. The parts share the memory of data.
func splitParts(data []byte) ([]part, error) {
	count, data, err := number(data)
	if err != nil || count > len(data)/4 { // a part has four numbers
		return nil, errParts
	}
	parts, sizes := make([]part, count), make([]int, count)
	for i := range parts {
		for _, to := range []*int{&parts[i].deal, &parts[i].rotation, &parts[i].seat, &sizes[i]} {
			if *to, data, err = number(data); err != nil {
				return nil, err
			}
		}
	}
	for i, size := range sizes {
		if size > len(data) {
			return nil, errParts
		}
		parts[i].data, data = data[:size:size], data[size:]
	}
	if len(data) > 0 {
		return nil, errParts
	}
	return parts, nil
}

// number reads a number that fits into 31 bits.
func number(data []byte) (int, []byte, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > math.MaxInt32 {
		return 0, nil, errParts
	}
	return int(n), data[size:], nil
}
