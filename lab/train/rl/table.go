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

	// MaxVisits is the highest number of visits that a pair can store. Further visits are not counted.
	MaxVisits = maxCount

	// In a table with KeepsPolicy, the bits of a count from policyShift on are the kept action of the state.
	policyShift = countBits - policy.ActionBits
)

// Pair is a pair of a state and an action, with statistics of its returns. Key identifies the state.
type Pair struct {
	Key    policy.Key
	Action uint8
	Count  uint16  // number of returns, at most 65535; in a table with KeepsPolicy also the kept action of the state
	Mean   float32 // mean of the returns
}

// ReturnTable stores the mean return of each action in each state. It is a hash table with linear probing. It needs
// 12 bytes for each pair of state and action, and stores all pairs of a state side by side. At its memory limit it
// rejects new pairs, but still updates the pairs that it has.
type ReturnTable struct {
	// UntriedAsZero is true if an untried action of a known state counts as an action with the mean 0.
	UntriedAsZero bool
	// KeepsPolicy is true if the table stores an action for each state, set by Keep, and Best returns this action
	// instead of the one with the highest mean. The stored action takes some bits of Pair.Count, so that counts end
	// at 1023.
	KeepsPolicy bool

	shards   [policy.Shards]shard
	maxSlots int // of each shard
}

// shard is one part of a ReturnTable. Each slot has a word and a mean. A word consists of three numbers, from the
// highest bit: the key without the number of the shard, the action and the count. The word of an empty slot is 0.
type shard struct {
	words      []uint64
	means      []float32
	used       int
	rejections uint64 // pairs rejected because the shard was full
}

const (
	pairBytes = 8 + 4
	// MinMemory is the lowest memory limit of a table, in bytes.
	MinMemory = 32 << 10
	// maxLoad is the share of its slots that a shard uses before it grows. A shard that has reached the memory limit
	// cannot grow; it uses up to the share maxLoadAtLimit of its slots.
	maxLoad, maxLoadAtLimit = 0.8, 0.9
	minInitialSlots         = 16
)

// initialSlots returns the initial number of slots of shard n, a part of a table. It differs from shard to shard.
// Shards of equal size would all grow at the same time, and a shard is copied when it grows.
func initialSlots(n int) int { return int(minInitialSlots * math.Exp2(float64(n)/policy.Shards)) }

// NewTable returns an empty table with a memory limit in bytes, which is at least MinMemory.
func NewTable(memory int64) *ReturnTable {
	return &ReturnTable{maxSlots: int(max(memory, MinMemory) / policy.Shards / pairBytes)}
}

// Bytes returns the memory that the slots of the table use, in bytes.
func (t *ReturnTable) Bytes() (n int64) {
	for i := range t.shards {
		n += int64(len(t.shards[i].words)) * pairBytes
	}
	return n
}

// Len returns the number of pairs of state and action in the table.
func (t *ReturnTable) Len() (n int) {
	for i := range t.shards {
		n += t.shards[i].used
	}
	return n
}

// Rejections returns how often a new pair was rejected because the table was full.
func (t *ReturnTable) Rejections() (n uint64) {
	for i := range t.shards {
		n += t.shards[i].rejections
	}
	return n
}

// Best returns the action with the highest mean in state k, among the tried actions in the bit mask legal. If there
// is none, known is false. Between equal means the higher count decides, then the lower action. If UntriedAsZero is
// set and the highest mean is negative, Best returns an untried action of legal, if there is one. Which of several
// depends on k. If KeepsPolicy is set, Best returns the action that Keep has stored.
func (t *ReturnTable) Best(k policy.Key, legal uint64) (action uint8, known bool) {
	b := t.best(k, legal)
	if t.KeepsPolicy {
		return b.policyAction, b.visits > 0 && legal>>b.policyAction&1 != 0
	}
	if t.UntriedAsZero && b.known && b.mean < 0 && legal&^b.triedActions != 0 {
		return policy.DrawAction(legal&^b.triedActions, k), true
	}
	return b.action, b.known
}

// BestTried returns the action with the highest mean among all tried actions of state k. If there is none,
// known is false.
func (t *ReturnTable) BestTried(k policy.Key) (action uint8, known bool) {
	b := t.best(k, policy.AllActions)
	return b.action, b.known
}

// bestAction has the legal action with the highest mean in a state, and the tried actions and visits of the state.
type bestAction struct {
	action       uint8 // the legal, tried action with the highest mean
	known        bool  // whether there is such an action
	mean         float32
	count        uint64
	triedActions uint64 // bit mask of all tried actions
	visits       int    // of the state
	policyAction uint8  // if the table has KeepsPolicy: the action that Keep has stored for the state
}

func (t *ReturnTable) best(k policy.Key, legal uint64) (b bestAction) {
	s := &t.shards[k.Shard()]
	if s.used == 0 {
		return b
	}
	rest, limit := k.Rest(), t.countLimit()
	for i := s.homeSlot(rest); ; {
		word := s.words[i]
		if word == 0 {
			return b
		}
		if count := word & limit; word>>(64-policy.RestBits) == rest && count > 0 { // a count of 0 is a withdrawn vote
			a, mean := uint8(word>>countBits&(policy.MaxActions-1)), s.means[i]
			b.triedActions |= 1 << a
			b.policyAction = policyAction(word)
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

// Find returns the pair of state k and the given action. The bool reports whether the table has this pair.
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

// Learn updates the mean of an action in state k with value, a new return. The step size for the nth return is 1/n,
// but at least minStep. If the table is full and does not have the pair, Learn returns false.
func (t *ReturnTable) Learn(k policy.Key, action uint8, value, minStep float32) bool {
	s := &t.shards[k.Shard()]
	i := t.findOrAdd(k, action)
	if i < 0 {
		return false
	}
	limit := t.countLimit()
	if s.words[i]&limit < limit {
		s.words[i]++
	}
	step := max(1/float32(s.words[i]&limit), minStep)
	s.means[i] += step * (value - s.means[i])
	return true
}

// countLimit returns the highest number of returns that a pair can count: 65535, or 1023 if KeepsPolicy is set and some
// of the bits store an action. The result is also the bit mask of this number in a word of a shard.
func (t *ReturnTable) countLimit() uint64 {
	if t.KeepsPolicy {
		return 1<<policyShift - 1
	}
	return maxCount
}

func policyAction(word uint64) uint8 { return uint8(word & maxCount >> policyShift) }

// Keep stores an action for state k, and Best returns it from then on. Keep does nothing if the table has no pair of
// state k. The table must have KeepsPolicy.
func (t *ReturnTable) Keep(k policy.Key, action uint8) {
	s := &t.shards[k.Shard()]
	if s.used == 0 {
		return
	}
	rest := k.Rest()
	for i := s.homeSlot(rest); s.words[i] != 0; {
		if word := s.words[i]; word>>(64-policy.RestBits) == rest {
			s.words[i] = word&^(maxCount&^t.countLimit()) | uint64(action)<<policyShift
		}
		if i++; i == len(s.words) {
			i = 0
		}
	}
}

// AddVotes adds delta, which may be negative, to the count of an action in state k. The count stays in [0,
// MaxVisits]. The mean is set to the count, so that Best returns the action with the most votes. If the table is
// full, AddVotes ignores actions that it does not have.
func (t *ReturnTable) AddVotes(k policy.Key, action uint8, delta int) {
	s := &t.shards[k.Shard()]
	i := t.findOrAdd(k, action)
	if i < 0 {
		return
	}
	count := int(s.words[i]&maxCount) + delta
	s.words[i] = s.words[i]&^maxCount | uint64(min(max(count, 0), maxCount))
	s.means[i] = float32(min(max(count, 0), maxCount)) // so that Best returns the most common action
}

// Set stores p, which replaces an existing pair of the same state and action. It returns false if the table is full
// and does not have such a pair.
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

// Shard returns the pairs in shard n, one of policy.Shards parts of the table, in no particular order.
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

// All returns all pairs in no particular order.
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

// Merge adds the pairs of other to t. If both tables have a pair, the counts are added, and the new mean is the
// average of both means, weighted by count. The kept action of such a state is that of t.
func (t *ReturnTable) Merge(other *ReturnTable) {
	t.reserveFor(other)
	limit := uint16(t.countLimit())
	for p := range other.All() {
		if own, ok := t.Find(p.Key, p.Action); ok {
			m, n := own.Count&limit, p.Count&limit
			if m > 0 || n > 0 {
				p.Mean = (own.Mean*float32(m) + p.Mean*float32(n)) / (float32(m) + float32(n))
			}
			p.Count = own.Count&^limit | uint16(min(int(m)+int(n), int(limit)))
		}
		t.Set(p)
	}
}

// AddCounts adds the count of each pair in other to the count of the same pair in t, as AddVotes does.
func (t *ReturnTable) AddCounts(other *ReturnTable) {
	t.reserveFor(other)
	for p := range other.All() {
		t.AddVotes(p.Key, p.Action, int(p.Count))
	}
}

func (t *ReturnTable) reserveFor(other *ReturnTable) {
	for n := range t.shards {
		t.Reserve(n, t.shards[n].used+other.shards[n].used)
	}
}

// Clone returns a copy of the table with the same memory limit. It shares no memory with the table.
func (t *ReturnTable) Clone() *ReturnTable {
	c := &ReturnTable{UntriedAsZero: t.UntriedAsZero, KeepsPolicy: t.KeepsPolicy, shards: t.shards, maxSlots: t.maxSlots}
	for n := range c.shards {
		s := &c.shards[n]
		s.words, s.means = slices.Clone(s.words), slices.Clone(s.means)
	}
	return c
}

func (s *shard) pair(n, i int) Pair { return decodePair(n, s.words[i], s.means[i]) }

func decodePair(n int, word uint64, mean float32) Pair {
	return Pair{
		Key:    policy.KeyOf(n, word>>(64-policy.RestBits)),
		Action: uint8(word >> countBits & (policy.MaxActions - 1)),
		Count:  uint16(word & maxCount),
		Mean:   mean,
	}
}

// homeSlot returns the slot at which the search for a key starts. rest is the key without the number of the shard.
// The order of these slots is the order of the keys.
func (s *shard) homeSlot(rest uint64) int {
	high, _ := bits.Mul64(rest<<(64-policy.RestBits), uint64(len(s.words)))
	return int(high)
}

// find returns the slot of an action in a state, and true. If the shard does not have this pair, it returns the
// empty slot for the pair, and false. rest is the key of the state without the number of the shard.
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

// findOrAdd returns the slot, within its shard, of an action in state k. If the table does not have this pair, it
// adds the pair with the count 0. If there is no room, it counts a rejection and returns -1.
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

// Reserve enlarges shard n, a part of the table, so that it can hold the given number of pairs within the memory
// limit. It must be called before pairs are added in the order of their keys. In a small shard, such pairs would
// crowd the lower slots.
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
