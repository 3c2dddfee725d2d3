package policy

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
)

// Key is a state as a player sees it: a number of KeyBits bits, never with the low RestBits all
// zero. States whose keys are equal are one state to the learner.
type Key uint64

const (
	// KeyBits is how many bits a key has. With 100 million states in a table, a state that was
	// never seen has the key of another once in 2.8 million looks.
	KeyBits = shardBits + RestBits
	// RestBits are the low bits, which are stored; the others choose the shard.
	RestBits = 42

	shardBits = 6
	restMask  = 1<<RestBits - 1

	// Shards is how many parts a table or a policy has. Each part of a table may be changed by a
	// goroutine of its own.
	Shards = 1 << shardBits

	// MaxActions is how many actions a game may have: an action is a number of ActionBits bits.
	MaxActions = 1 << ActionBits
	// ActionBits are the bits of an action.
	ActionBits = 6
	// AllActions are the actions as Memory.Best takes them, if all are legal.
	AllActions = 1<<MaxActions - 1
)

// NewKey returns the key of 64 well-mixed bits.
func NewKey(hash uint64) Key { return Key(hash >> (64 - KeyBits)).valid() }

// KeyOf returns the key with a shard and a rest, which is not 0.
func KeyOf(shard int, rest uint64) Key { return Key(shard)<<RestBits | Key(rest) }

// WithShardOf returns the key with the shard of another key.
func (k Key) WithShardOf(other Key) Key { return k&restMask | other&^restMask }

func (k Key) valid() Key {
	if k&restMask == 0 {
		return k | 1
	}
	return k
}

// Shard returns the number of the part of a table that has the key. It rises with the keys.
func (k Key) Shard() int { return int(k >> RestBits) }

// Rest returns the key without its shard.
func (k Key) Rest() uint64 { return uint64(k) & restMask }

// DrawAction returns one of some actions, which the key of a state decides as if by chance.
func DrawAction(set uint64, k Key) uint8 {
	return nth(set, int(k.Rest()%uint64(bits.OnesCount64(set))))
}

// RandomAction returns one of some actions by chance.
func RandomAction(set uint64, r *rules.Rand) uint8 { return nth(set, r.Below(bits.OnesCount64(set))) }

// ActionAt returns the legal action at a place of 128, which is drawn before the legal ones are known.
func ActionAt(legal uint64, place uint8) uint8 {
	return nth(legal, int(place)*bits.OnesCount64(legal)/PlaceCount)
}

// PlaceCount are the places that Place knows.
const PlaceCount = 128

// nth returns an action of a set by its place, from 0.
func nth(set uint64, n int) uint8 {
	for ; n > 0; n-- {
		set &= set - 1
	}
	return uint8(bits.TrailingZeros64(set))
}
