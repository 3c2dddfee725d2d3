package ga

import (
	"cmp"
	"slices"

	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// dictionary is an agent that learns, an individual of a genetic search (the variant rl). It has the mean return of
// each action in each state. A return is the sum of the rewards after the action.
type dictionary struct {
	table *rl.ReturnTable
	games uint32 // games from which the agent and its ancestors have learned
	// drawnPlaces has the states in which a mutation has replaced the best action. The value is the argument place
	// of policy.ActionAt, which determines the new action. When the agent learns in a state, the entry of the state
	// is deleted. The mean returns of the state remain in table.
	drawnPlaces map[policy.Key]uint8
	pairs       []rl.Pair // contents of table and drawnPlaces, sorted by key and action; nil unless it is a parent
}

// Best returns the best action in state k among the actions in the bit mask legal. If a mutation drew an action for
// the state, this is the best action, otherwise the one with the highest mean return. If the dictionary does not
// know the state, known is false.
func (d *dictionary) Best(k policy.Key, legal uint64) (action uint8, known bool) {
	if place, ok := d.drawnPlaces[k]; ok {
		return policy.ActionAt(legal, place), true
	}
	return d.table.Best(k, legal)
}

// drawnMarker is a value of rl.Pair.Action that no real action has. It says that a mutation drew the action of the
// state, and that Pair.Count is the argument place of policy.ActionAt, which determines this action.
const drawnMarker = policy.MaxActions - 1

// store adds a pair to the table or, if its action is drawnMarker, to drawnPlaces.
func (d *dictionary) store(p rl.Pair) {
	if p.Action != drawnMarker {
		d.table.Set(p)
		return
	}
	if d.drawnPlaces == nil {
		d.drawnPlaces = map[policy.Key]uint8{}
	}
	d.drawnPlaces[p.Key] = uint8(p.Count)
}

// sortedPairs returns all pairs of state and action in d, sorted by key and then by action. If a mutation drew an
// action for a state, a pair of the state has drawnMarker as its action.
func (d *dictionary) sortedPairs() []rl.Pair {
	pairs := make([]rl.Pair, 0, d.table.Len()+len(d.drawnPlaces))
	pairs = slices.AppendSeq(pairs, d.table.All())
	for k, place := range d.drawnPlaces {
		pairs = append(pairs, rl.Pair{Key: k, Action: drawnMarker, Count: uint16(place)})
	}
	slices.SortFunc(pairs, func(a, b rl.Pair) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Action, b.Action))
	})
	return pairs
}

// withoutDrawn returns the pairs of one state without the pair whose action is drawnMarker, which says that a mutation
// drew an action. state must be sorted by action. If it has no such pair, the result is state itself.
func withoutDrawn(state []rl.Pair) []rl.Pair {
	if n := len(state) - 1; n >= 0 && state[n].Action == drawnMarker {
		return state[:n]
	}
	return state
}

// splitFirstState splits pairs, which must be sorted by state, into the pairs of the first state and all others.
func splitFirstState(pairs []rl.Pair) (first, others []rl.Pair) {
	n := 0
	for n < len(pairs) && pairs[n].Key == pairs[0].Key {
		n++
	}
	return pairs[:n], pairs[n:]
}

func countStates(pairs []rl.Pair) (n int) {
	for ; len(pairs) > 0; n++ {
		_, pairs = splitFirstState(pairs)
	}
	return n
}

// forEachState calls each once for every state in a or b. Both must be sorted by key, and the calls are in the
// order of keys. The arguments are the pairs of the state in a and those in b; one of the two may be empty.
func forEachState(a, b []rl.Pair, each func(a, b []rl.Pair)) {
	var p, q []rl.Pair
	for len(a)+len(b) > 0 {
		p, q = nil, nil
		if len(b) == 0 || len(a) > 0 && a[0].Key <= b[0].Key {
			p, a = splitFirstState(a)
		}
		if len(b) > 0 && (len(p) == 0 || p[0].Key == b[0].Key) {
			q, b = splitFirstState(b)
		}
		each(p, q)
	}
}

// mix is a function that crosses over one state. a and b are the pairs of state and action that the two parents
// have for the state; x and y are the pairs that the two children get.
type mix func(a, b []rl.Pair) (x, y []rl.Pair)

// dictionaryCrossover is a named operator that computes two children from two parents. Parents and children are
// learning agents that store a value for each state and action (see dictionary). If only one parent has met a state,
// both children get that parent's values of the state.
type dictionaryCrossover struct {
	name string
	// newMix returns the crossover function for the states that both parents have. n is the number of states of the
	// larger parent.
	newMix func(n int, r *rules.Rand) mix
}

// dictionaryCrossovers are the crossover operators for learning agents. A gene is a state with its values, and genes
// are ordered by key.
var dictionaryCrossovers = []dictionaryCrossover{
	{"one-point", func(_ int, r *rules.Rand) mix {
		return segments([]policy.Key{randomKey(r)}, everySecond(2))
	}},
	{"several-points", func(n int, r *rules.Rand) mix {
		cuts := randomKeyCuts(n, r)
		return segments(cuts, everySecond(len(cuts)+1))
	}},
	{"uniform", func(_ int, r *rules.Rand) mix {
		return func(a, b []rl.Pair) (x, y []rl.Pair) {
			if r.Below(2) == 1 {
				return b, a
			}
			return a, b
		}
	}},
	{"multivariate", func(n int, r *rules.Rand) mix {
		cuts := randomKeyCuts(n, r)
		swapped := make([]bool, len(cuts)+1)
		for i := range swapped {
			swapped[i] = r.Below(2) == 1
		}
		return segments(cuts, swapped)
	}},
}

func randomKey(r *rules.Rand) policy.Key { return policy.Key(r.Uint64() >> (64 - policy.KeyBits)) }

// randomKeyCuts returns random keys in ascending order. Their number is random, between 2 and n/2.
func randomKeyCuts(n int, r *rules.Rand) []policy.Key {
	cuts := make([]policy.Key, randomInt(r, 2, n/2))
	for i := range cuts {
		cuts[i] = randomKey(r)
	}
	slices.Sort(cuts)
	return cuts
}

// segments returns a crossover function for states, which must be called in ascending order of keys. The keys in
// cuts, which ascend, divide the states into len(cuts)+1 segments; a segment includes the cut at its beginning. If
// swapped is true for a segment, the children exchange the states in it.
func segments(cuts []policy.Key, swapped []bool) mix {
	at := 0
	return func(a, b []rl.Pair) (x, y []rl.Pair) {
		for at < len(cuts) && a[0].Key >= cuts[at] {
			at++
		}
		if swapped[at] {
			return b, a
		}
		return a, b
	}
}

// offspring fills the tables of two children. It collects pairs of state and action until it has all pairs of one
// shard, which is a part of a table, and then stores them.
type offspring struct {
	children   [2]*dictionary
	resetRates [2]float64 // by child: probability that the mutation draws a new action for a state; 0 for no mutation
	rand       *rules.Rand
	shard      int          // number of the present shard
	parts      [2][]rl.Pair // pairs of the present shard, by child
}

// cross fills both children from a and b, the pairs of state and action of the two parents, sorted by state. If
// both parents have a state, m computes the pairs of each child. If only one parent has it, both children get its
// pairs.
func (o *offspring) cross(a, b []rl.Pair, m mix) {
	forEachState(a, b, func(a, b []rl.Pair) {
		switch {
		case len(b) == 0:
			o.add(a, a)
		case len(a) == 0:
			o.add(b, b)
		default:
			o.add(m(a, b))
		}
	})
	o.flush()
}

func (o *offspring) copy(a, b []rl.Pair) {
	forEachState(a, b, o.add)
	o.flush()
}

// add adds the pairs of one state: x to the first child and y to the second. In each child, a mutation may draw
// another action for the state.
func (o *offspring) add(x, y []rl.Pair) {
	for child, pairs := range [...][]rl.Pair{x, y} {
		if len(pairs) == 0 {
			continue
		}
		if n := pairs[0].Key.Shard(); n != o.shard {
			o.flush()
			o.shard = n
		}
		if o.resetRates[child] > 0 && uniform(o.rand) < o.resetRates[child] {
			pairs = withoutDrawn(pairs)
			drawn := rl.Pair{Key: pairs[0].Key, Action: drawnMarker, Count: uint16(o.rand.Below(policy.PlaceCount))}
			o.parts[child] = append(append(o.parts[child], pairs...), drawn)
			continue
		}
		o.parts[child] = append(o.parts[child], pairs...)
	}
}

// flush stores in each child the pairs that were collected for the present shard (a part of its table).
func (o *offspring) flush() {
	for child, pairs := range o.parts {
		o.children[child].table.Reserve(o.shard, len(pairs))
		for _, p := range pairs {
			o.children[child].store(p)
		}
		o.parts[child] = pairs[:0]
	}
}
