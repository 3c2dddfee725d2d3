package policy

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
)

// Key identifies a state as a player sees it. It has KeyBits bits, and its low RestBits are never all 0. The
// learner does not distinguish states with the same key.
type Key uint64

const (
	// KeyBits is the number of bits of a key. In a table of 100 million states, a state that was never seen
	// has the key of another one in 1 of 2.8 million lookups.
	KeyBits = shardBits + RestBits
	// RestBits is the number of low bits, which are stored. The high bits select the shard.
	RestBits = 42

	shardBits = 6
	restMask  = 1<<RestBits - 1

	// Shards is the number of parts of a table or a policy. Different goroutines may change different parts
	// at once.
	Shards = 1 << shardBits

	// MaxActions is the maximum number of actions of a game.
	MaxActions = 1 << ActionBits
	// ActionBits is the number of bits of an action.
	ActionBits = 6
	// AllActions is the set of all actions, for Memory.Best.
	AllActions = 1<<MaxActions - 1
)

// NewKey returns the key for a hash of 64 well-mixed bits.
func NewKey(hash uint64) Key { return Key(hash >> (64 - KeyBits)).valid() }

// KeyOf returns the key with the given shard and rest. rest must not be 0.
func KeyOf(shard int, rest uint64) Key { return Key(shard)<<RestBits | Key(rest) }

// WithShardOf returns the key with its shard replaced by that of another key.
func (k Key) WithShardOf(other Key) Key { return k&restMask | other&^restMask }

func (k Key) valid() Key {
	if k&restMask == 0 {
		return k | 1
	}
	return k
}

// Shard returns the index of the part of a table that holds the key. A greater key never has a smaller shard.
func (k Key) Shard() int { return int(k >> RestBits) }

// Rest returns the key without its shard.
func (k Key) Rest() uint64 { return uint64(k) & restMask }

// DrawAction returns an action of a set. The choice looks random but is determined by the key.
func DrawAction(set uint64, k Key) uint8 {
	return nth(set, int(k.Rest()%uint64(bits.OnesCount64(set))))
}

// RandomAction returns a random action of a set.
func RandomAction(set uint64, r *rules.Rand) uint8 { return nth(set, r.Below(bits.OnesCount64(set))) }

// ActionAt returns the legal action at a place from 0 to PlaceCount-1. The place is drawn before the legal
// actions are known, and is scaled to their number.
func ActionAt(legal uint64, place uint8) uint8 {
	return nth(legal, int(place)*bits.OnesCount64(legal)/PlaceCount)
}

// PlaceCount is the number of places for ActionAt.
const PlaceCount = 128

// nth returns the action of a set at index n.
func nth(set uint64, n int) uint8 {
	for ; n > 0; n-- {
		set &= set - 1
	}
	return uint8(bits.TrailingZeros64(set))
}
