package rl

import (
	"io"
	"slices"

	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// WritePolicy writes the best action of each state in t that has at least the given number of visits. It returns
// the number of states written. For a state in drawn it writes the value in drawn instead, which is the argument
// place of policy.ActionAt. The file has shortened keys. If several states have the same shortened key, only the
// first of them is written.
func WritePolicy(w io.Writer, t *ReturnTable, visits int, drawn map[policy.Key]uint8) (states int, err error) {
	p, err := policy.NewWriter(w, t.Len())
	if err != nil {
		return 0, err
	}
	var rests []uint64
	for shard := range policy.Shards {
		rests = rests[:0]
		for _, word := range t.shards[shard].words {
			if word != 0 {
				rests = append(rests, word>>(64-policy.RestBits))
			}
		}
		slices.Sort(rests)
		for _, rest := range slices.Compact(rests) {
			k := policy.KeyOf(shard, rest)
			b := t.best(k, policy.AllActions)
			if !b.known || p.HasLastKey(k) || b.visits < visits {
				continue
			}
			if place, ok := drawn[k]; ok {
				p.AddDrawn(k, place)
				continue
			}
			if t.KeepsPolicy {
				p.AddBest(k, b.policyAction)
				continue
			}
			if !t.UntriedAsZero || b.mean >= 0 {
				p.AddBest(k, b.action)
				continue
			}
			for left := b.triedActions; left != 0; left &^= 1 << b.action {
				b = t.best(k, left)
				p.AddTried(k, b.action)
			}
		}
		if err := p.WriteShard(); err != nil {
			return p.StateCount, err
		}
	}
	return p.StateCount, nil
}
