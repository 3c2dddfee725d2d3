package rl

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

const (
	countBits = 16
	maxCount  = 1<<countBits - 1

	// MaxVisits is the most visits of a pair that are counted.
	MaxVisits = maxCount
)

// Pair is what a table knows of an action in a state.
type Pair struct {
	Key    policy.Key
	Action uint8
	Count  uint16  // how often it was tried; stays at 65535
	Mean   float32 // of the returns
}

// ReturnTable has the mean return of pairs of a state and an action. It is a hash table with linear
// probing: 12 bytes a pair, the pairs of a state side by side. It grows to a limit of memory; then
// pairs that it does not know are turned away, and the others go on learning.
type ReturnTable struct {
	// UntriedAsZero is the rule Config.Untried == Zero: an action that was never tried in a state counts as 0.
	UntriedAsZero bool

	shards   [policy.Shards]shard
	maxSlots int // slots of a shard at most
}

// shard is a part of a table. A word is rest of the key, action, count, from the highest bit; 0
// is an empty slot.
type shard struct {
	words      []uint64
	means      []float32
	used       int
	rejections uint64 // pairs turned away
}

const (
	pairBytes = 8 + 4
	// MinMemory is the least limit of a table, in bytes.
	MinMemory = 32 << 10
	// maxLoad is the part of a shard's slots that may be in use before it grows, and lastFill when
	// it cannot grow.
	maxLoad, maxLoadAtLimit = 0.8, 0.9
	minInitialSlots         = 16
)

// initialSlots returns how many slots a shard begins with. They differ so that shards, which fill
// up alike, grow one after the other, and the memory of few of them is copied at a time.
func initialSlots(n int) int { return int(minInitialSlots * math.Exp2(float64(n)/policy.Shards)) }

// NewTable returns an empty table that takes at most so many bytes, at least MinMemory.
func NewTable(memory int64) *ReturnTable {
	return &ReturnTable{maxSlots: int(max(memory, MinMemory) / policy.Shards / pairBytes)}
}

// Bytes returns the memory that the table takes.
func (t *ReturnTable) Bytes() (n int64) {
	for i := range t.shards {
		n += int64(len(t.shards[i].words)) * pairBytes
	}
	return n
}

// Len returns how many pairs the table has.
func (t *ReturnTable) Len() (n int) {
	for i := range t.shards {
		n += t.shards[i].used
	}
	return n
}

// Rejections returns how many times a new pair was turned away because the table was full.
func (t *ReturnTable) Rejections() (n uint64) {
	for i := range t.shards {
		n += t.shards[i].rejections
	}
	return n
}

// Best returns the action of highest mean among the legal ones that were tried in a state, and
// false if none was. Legal is a bit for each action. Equal means are decided by the count, then
// by the lower action, so that the order in which pairs came does not matter. With Zero, a legal
// action that was never tried is better than a negative mean: the key decides which one.
func (t *ReturnTable) Best(k policy.Key, legal uint64) (action uint8, known bool) {
	b := t.best(k, legal)
	if t.UntriedAsZero && b.known && b.mean < 0 && legal&^b.triedActions != 0 {
		return policy.DrawAction(legal&^b.triedActions, k), true
	}
	return b.action, b.known
}

// BestTried returns the action of highest mean among those that were tried in a state.
func (t *ReturnTable) BestTried(k policy.Key) (action uint8, known bool) {
	b := t.best(k, policy.AllActions)
	return b.action, b.known
}

// bestAction is what a table knows of some legal actions in a state.
type bestAction struct {
	action       uint8 // of highest mean among the legal ones that were tried
	known        bool  // there is one
	mean         float32
	count        uint64
	triedActions uint64 // all that were tried, a bit each
	visits       int    // of the state
}

func (t *ReturnTable) best(k policy.Key, legal uint64) (b bestAction) {
	s := &t.shards[k.Shard()]
	if s.used == 0 {
		return b
	}
	rest := k.Rest()
	for i := s.homeSlot(rest); ; {
		word := s.words[i]
		if word == 0 {
			return b
		}
		if count := word & maxCount; word>>(64-policy.RestBits) == rest && count > 0 { // else a vote that was taken back
			a, mean := uint8(word>>countBits&(policy.MaxActions-1)), s.means[i]
			b.triedActions |= 1 << a
			b.visits += int(count)
			if legal>>a&1 != 0 && (!b.known || mean > b.mean || mean == b.mean && (count > b.count || count == b.count && a < b.action)) {
				b.action, b.known, b.mean, b.count = a, true, mean, count
			}
		}
		if i++; i == len(s.words) {
			i = 0
		}
	}
}

// Find returns what the table knows of an action in a state, and false if it was never tried.
func (t *ReturnTable) Find(k policy.Key, action uint8) (Pair, bool) {
	s := &t.shards[k.Shard()]
	if s.used == 0 {
		return Pair{}, false
	}
	i, found := s.find(k.Rest(), action)
	if !found {
		return Pair{}, false
	}
	return s.pair(k.Shard(), i), true
}

// Learn adds a return to the mean of a pair. The step is 1/n for the nth return, and no less
// than a given least step. It returns false if the table is full and does not know the pair.
func (t *ReturnTable) Learn(k policy.Key, action uint8, value, least float32) bool {
	s := &t.shards[k.Shard()]
	i := t.findOrAdd(k, action)
	if i < 0 {
		return false
	}
	if s.words[i]&maxCount < maxCount {
		s.words[i]++
	}
	step := max(1/float32(s.words[i]&maxCount), least)
	s.means[i] += step * (value - s.means[i])
	return true
}

// AddVotes changes the count of a pair, which is no less than 0, and leaves its mean.
func (t *ReturnTable) AddVotes(k policy.Key, action uint8, by int) {
	s := &t.shards[k.Shard()]
	i := t.findOrAdd(k, action)
	if i < 0 {
		return
	}
	count := int(s.words[i]&maxCount) + by
	s.words[i] = s.words[i]&^maxCount | uint64(min(max(count, 0), maxCount))
	s.means[i] = float32(min(max(count, 0), maxCount)) // so that Best is the most common
}

// Set stores a pair, in place of what the table knew of it. It returns false if the table is
// full.
func (t *ReturnTable) Set(p Pair) bool {
	s := &t.shards[p.Key.Shard()]
	i := t.findOrAdd(p.Key, p.Action)
	if i < 0 {
		return false
	}
	s.words[i] = s.words[i]&^maxCount | uint64(p.Count)
	s.means[i] = p.Mean
	return true
}

// Shard returns the pairs of a part of the table, in no order.
func (t *ReturnTable) Shard(n int) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		s := &t.shards[n]
		for i, word := range s.words {
			if word != 0 && !yield(s.pair(n, i)) {
				return
			}
		}
	}
}

// All returns all pairs, in no order.
func (t *ReturnTable) All() iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for n := range t.shards {
			for p := range t.Shard(n) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// Merge adds the pairs of another table: the mean of a pair that both have is weighted by the
// counts.
func (t *ReturnTable) Merge(other *ReturnTable) {
	t.reserveFor(other)
	for p := range other.All() {
		if own, ok := t.Find(p.Key, p.Action); ok {
			n := float32(own.Count) + float32(p.Count)
			if n > 0 {
				p.Mean = (own.Mean*float32(own.Count) + p.Mean*float32(p.Count)) / n
			}
			p.Count = uint16(min(int(own.Count)+int(p.Count), maxCount))
		}
		t.Set(p)
	}
}

// AddCounts adds the counts of another table's pairs, as votes.
func (t *ReturnTable) AddCounts(other *ReturnTable) {
	t.reserveFor(other)
	for p := range other.All() {
		t.AddVotes(p.Key, p.Action, int(p.Count))
	}
}

// reserveFor makes room for the pairs of another table.
func (t *ReturnTable) reserveFor(other *ReturnTable) {
	for n := range t.shards {
		t.Reserve(n, t.shards[n].used+other.shards[n].used)
	}
}

// Clone returns a copy that is independent.
func (t *ReturnTable) Clone() *ReturnTable {
	c := &ReturnTable{UntriedAsZero: t.UntriedAsZero, shards: t.shards, maxSlots: t.maxSlots}
	for n := range c.shards {
		s := &c.shards[n]
		s.words, s.means = slices.Clone(s.words), slices.Clone(s.means)
	}
	return c
}

func (s *shard) pair(n, i int) Pair { return decodePair(n, s.words[i], s.means[i]) }

// decodePair returns the pair of a word in a shard.
func decodePair(n int, word uint64, mean float32) Pair {
	return Pair{
		Key:    policy.KeyOf(n, word>>(64-policy.RestBits)),
		Action: uint8(word >> countBits & (policy.MaxActions - 1)),
		Count:  uint16(word & maxCount),
		Mean:   mean,
	}
}

// homeSlot returns the slot where the search for a key begins: in the order of the keys.
func (s *shard) homeSlot(rest uint64) int {
	high, _ := bits.Mul64(rest<<(64-policy.RestBits), uint64(len(s.words)))
	return int(high)
}

// find returns the slot of a pair and true, or the empty slot where it would be and false.
func (s *shard) find(rest uint64, action uint8) (int, bool) {
	want := rest<<policy.ActionBits | uint64(action)
	for i := s.homeSlot(rest); ; {
		word := s.words[i]
		if word == 0 {
			return i, false
		}
		if word>>countBits == want {
			return i, true
		}
		if i++; i == len(s.words) {
			i = 0
		}
	}
}

// findOrAdd returns the slot in its shard of a pair, which it adds with a count of 0 if need be, or
// -1 if there is no room: then it is turned away. A word is not 0 even then, as the rest of a key is not.
func (t *ReturnTable) findOrAdd(k policy.Key, action uint8) int {
	s, rest, limit := &t.shards[k.Shard()], k.Rest(), t.maxSlots
	if len(s.words) == 0 {
		s.resize(min(initialSlots(k.Shard()), limit))
	}
	i, found := s.find(rest, action)
	if found {
		return i
	}
	most := maxLoad
	if len(s.words) >= limit {
		most = maxLoadAtLimit
	}
	if float64(s.used+1) > most*float64(len(s.words)) {
		if len(s.words) >= limit {
			s.rejections++
			return -1
		}
		s.resize(min(2*len(s.words), limit))
		i, _ = s.find(rest, action)
	}
	s.words[i] = (rest<<policy.ActionBits | uint64(action)) << countBits
	s.means[i] = 0
	s.used++
	return i
}

// Reserve makes room for so many pairs in a shard, within the limit. Pairs that come in the order
// of their keys would else crowd the lower slots.
func (t *ReturnTable) Reserve(n, pairs int) {
	s := &t.shards[n]
	slots := max(len(s.words), min(initialSlots(n), t.maxSlots))
	for slots < t.maxSlots && float64(pairs) > maxLoad*float64(slots) {
		slots = min(2*slots, t.maxSlots)
	}
	if slots > len(s.words) {
		s.resize(slots)
	}
}

// resize moves the pairs to so many slots.
func (s *shard) resize(slots int) {
	old, means := s.words, s.means
	s.words, s.means = make([]uint64, slots), make([]float32, slots)
	for i, word := range old {
		if word != 0 {
			j, _ := s.find(word>>(64-policy.RestBits), uint8(word>>countBits&(policy.MaxActions-1)))
			s.words[j], s.means[j] = word, means[i]
		}
	}
}
