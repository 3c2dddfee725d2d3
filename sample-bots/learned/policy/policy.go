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

// Policy has the best action for each state that was learned. For each shard (a part of the keys) it has a sorted
// list of words. A word has the high bits of a key and, in the lowest byte, the action.
type Policy struct {
	shards [Shards][]uint64
	width  int
}

// A choice is the low byte of a word in a Policy. Usually it is the best action of the state. There are two
// exceptions:
//
//   - If untried actions count as 0 and the means of all tried actions are negative, an untried action is
//     best. The policy then has a choice with triedFlag for each tried action, the best first.
//   - A choice with drawnFlag holds the argument place of ActionAt, which determines the action.
const (
	choiceBits = 8
	triedFlag  = 1 << ActionBits
	drawnFlag  = 1 << 7
)

// A policy stores only some of the highest bytes of Key.Rest. There are enough of them that at most 1 of 1024
// unknown states is mistaken for a known one.
const (
	minWidth   = 3
	maxWidth   = RestBits / 8
	chanceBits = 10 // the chance of such an error is 2^-chanceBits
)

// widthOf returns how many bytes of each key a policy stores if it has the given number of states.
func widthOf(states int) int {
	width := minWidth
	for width < maxWidth && states > 1<<(shardBits+8*width-chanceBits) {
		width++
	}
	return width
}

func highBytes(rest uint64, width int) uint64 { return rest >> (RestBits - 8*width) }

// Best implements Memory. It returns the best of the legal actions in the state with the key k. known is false if
// the policy has no legal action for this state. legal has one bit for each action.
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

// Len returns the number of states in the policy.
func (p *Policy) Len() (n int) {
	for _, words := range p.shards {
		n += countStates(words)
	}
	return n
}

// countStates returns the number of states in a sorted list of words, which is the number of different keys.
func countStates(words []uint64) (n int) {
	for i, word := range words {
		if i == 0 || word>>choiceBits != words[i-1]>>choiceBits {
			n++
		}
	}
	return n
}

// ReadPolicy reads a policy that Writer has written. It returns an error if the data are damaged.
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

// isSorted reports whether the keys of words ascend. Words for the tried actions of one state may have the same
// key.
func isSorted(words []uint64) bool {
	for i := 1; i < len(words); i++ {
		a, b := words[i-1], words[i]
		if a>>choiceBits > b>>choiceBits || a>>choiceBits == b>>choiceBits && (a&b&triedFlag == 0 || (a|b)&drawnFlag != 0) {
			return false
		}
	}
	return true
}
