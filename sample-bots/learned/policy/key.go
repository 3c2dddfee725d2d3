package policy

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
)

// Key is a hash of what a player knows of a position. It has KeyBits bits, and its low RestBits are never all
// 0. The learner treats positions with the same key as the same state.
type Key uint64

const (
	// KeyBits is the number of bits of a key. If a table has 100 million states, the chance that an unseen state
	// has the same key as one of them is 1 in 2.8 million.
	KeyBits = shardBits + RestBits
	// RestBits is the number of low bits of a key, which a table stores. The other bits are the number of the
	// shard, the part of the table to which the key belongs.
	RestBits = 42

	shardBits = 6
	restMask  = 1<<RestBits - 1

	// Shards is the number of parts, called shards, into which a table or a policy is divided. The key of a state
	// selects the part. Goroutines may change different parts at the same time.
	Shards = 1 << shardBits

	// MaxActions is an upper bound on the number of actions of a game. Actions are numbered from 0.
	MaxActions = 1 << ActionBits
	// ActionBits is the number of bits of an action.
	ActionBits = 6
	// AllActions is the set of all actions, one bit for each, as an argument of Memory.Best.
	AllActions = 1<<MaxActions - 1
)

// NewKey returns a key made of the high bits of hash. The bits of hash must be well mixed.
func NewKey(hash uint64) Key { return Key(hash >> (64 - KeyBits)).valid() }

// KeyOf returns the key of the given shard (its high bits) whose low bits are rest. rest must not be 0.
func KeyOf(shard int, rest uint64) Key { return Key(shard)<<RestBits | Key(rest) }

// WithShardOf returns the key that has the low bits of k, and the high bits (the number of the shard) of other.
func (k Key) WithShardOf(other Key) Key { return k&restMask | other&^restMask }

func (k Key) valid() Key {
	if k&restMask == 0 {
		return k | 1
	}
	return k
}

// Shard returns the high bits of the key. They are the number of the part of a table that holds the key. Sorting by
// key also sorts by this number.
func (k Key) Shard() int { return int(k >> RestBits) }

// Rest returns the low RestBits bits of the key. The other bits are the number of its shard, a part of a table.
func (k Key) Rest() uint64 { return uint64(k) & restMask }

// DrawAction returns one of the actions in set, which has one bit for each action. The choice looks random, but is
// the same for the same set and key. set must not be empty.
func DrawAction(set uint64, k Key) uint8 {
	return nth(set, int(k.Rest()%uint64(bits.OnesCount64(set))))
}

// RandomAction returns a random action of set, which has one bit for each action and must not be empty.
func RandomAction(set uint64, r *rules.Rand) uint8 { return nth(set, r.Below(bits.OnesCount64(set))) }

// ActionAt returns one of the legal actions. place is a number from 0 to PlaceCount-1, which is scaled to the
// number of legal actions. It can therefore be drawn at random before the legal actions are known. legal has one
// bit for each action.
func ActionAt(legal uint64, place uint8) uint8 {
	return nth(legal, int(place)*bits.OnesCount64(legal)/PlaceCount)
}

// PlaceCount is the number of values of ActionAt's argument place.
const PlaceCount = 128

func nth(set uint64, n int) uint8 {
	for ; n > 0; n-- {
		set &= set - 1
	}
	return uint8(bits.TrailingZeros64(set))
}
