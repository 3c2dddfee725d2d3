package policy

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// Policy has what an agent does in each state: what a table knows less its numbers. Its words are
// the high bits of the rest of a key and a choice, in the order of the keys, by shard.
type Policy struct {
	shards [Shards][]uint64
	width  int
}

// A choice is the low byte of a word. Most are an action, the best of the state. Of a state in which
// an action that was never tried counts as 0 and all means are negative, the policy has all that
// were tried, the best first, each marked as tried. A choice that is marked as drawn is the place
// of an action among the legal ones, in 128ths: see Place.
const (
	choiceBits = 8
	triedFlag  = 1 << ActionBits
	drawnFlag  = 1 << 7
)

// A policy keeps so many bytes of the rest of its keys that of the states that it does not know, it
// takes at most one in 1024 for another.
const (
	minWidth   = 3
	maxWidth   = RestBits / 8
	chanceBits = 10 // bits of that chance
)

// widthOf returns the bytes for so many states.
func widthOf(states int) int {
	width := minWidth
	for width < maxWidth && states > 1<<(shardBits+8*width-chanceBits) {
		width++
	}
	return width
}

// highBytes returns the high bytes of the rest of a key.
func highBytes(rest uint64, width int) uint64 { return rest >> (RestBits - 8*width) }

// Best returns the action that is best in a state, among the legal ones, and whether the state is known.
func (p *Policy) Best(k Key, legal uint64) (action uint8, known bool) {
	words, rest := p.shards[k.Shard()], highBytes(k.Rest(), p.width)
	i, _ := slices.BinarySearchFunc(words, rest, func(word, rest uint64) int { return cmp.Compare(word>>choiceBits, rest) })
	if i == len(words) || words[i]>>choiceBits != rest {
		return 0, false
	}
	action = uint8(words[i] & (MaxActions - 1))
	switch {
	case words[i]&drawnFlag != 0:
		return ActionAt(legal, uint8(words[i]%PlaceCount)), true
	case words[i]&triedFlag == 0:
		return action, legal>>action&1 != 0
	}
	untried := legal
	for ; i < len(words) && words[i]>>choiceBits == rest; i++ {
		a := uint8(words[i] & (MaxActions - 1))
		if untried &^= 1 << a; !known && legal>>a&1 != 0 {
			action, known = a, true
		}
	}
	if known && untried != 0 {
		action = DrawAction(untried, k)
	}
	return action, known
}

// Len returns how many states the policy has.
func (p *Policy) Len() (n int) {
	for _, words := range p.shards {
		n += countStates(words)
	}
	return n
}

// countStates returns how many keys words have.
func countStates(words []uint64) (n int) {
	for i, word := range words {
		if i == 0 || word>>choiceBits != words[i-1]>>choiceBits {
			n++
		}
	}
	return n
}

// ReadPolicy reads what a Writer wrote.
func ReadPolicy(r io.Reader) (*Policy, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:1]); err != nil {
		return nil, model.DamageError(err)
	}
	p := &Policy{width: int(size[0])}
	if p.width < minWidth || p.width > maxWidth {
		return nil, fmt.Errorf("model: the body is damaged: keys of %d bytes", p.width)
	}
	for n := range p.shards {
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return nil, model.DamageError(err)
		}
		b, err := model.ReadBytes(r, int64(binary.LittleEndian.Uint32(size[:]))*int64(p.width+1))
		if err != nil {
			return nil, model.DamageError(err)
		}
		if p.shards[n] = readWords(b, p.width); !isSorted(p.shards[n]) {
			return nil, errors.New("model: the body is damaged: the states are not in order")
		}
	}
	return p, nil
}

func readWords(b []byte, width int) []uint64 {
	words := make([]uint64, len(b)/(width+1))
	n := len(words)
	for i := range words {
		for column := range width {
			words[i] = words[i]<<8 | uint64(b[column*n+i])
		}
		words[i] = words[i]<<choiceBits | uint64(b[width*n+i])
	}
	return words
}

// isSorted reports whether each word has a higher key than the one before it, or both are of a
// state with all that was tried.
func isSorted(words []uint64) bool {
	for i := 1; i < len(words); i++ {
		a, b := words[i-1], words[i]
		if a>>choiceBits > b>>choiceBits || a>>choiceBits == b>>choiceBits && (a&b&triedFlag == 0 || (a|b)&drawnFlag != 0) {
			return false
		}
	}
	return true
}
