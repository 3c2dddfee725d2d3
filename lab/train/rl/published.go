package rl

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// publishedAction returns the action that the program of R. Arjonilla's thesis (UOC, 2024) would store for the state of
// u, after table t has learned u. This is the tried action with the highest mean return. If t.UntriedAsZero is set and
// this mean is negative, it is a random untried action instead, if there is one. If no action was tried, it is random.
//
// With DefectStored, the action is random with the probability epsilon. With DefectPlace, the program uses the index of
// the best action among the tried ones as an index into all legal ones. It takes the action there for the best, and all
// others for untried.
func (c *Config) publishedAction(t *ReturnTable, u *Update, epsilon float64, r *rules.Rand) uint8 {
	legal := u.actions()
	tried, untried, best := t.splitTried(u.Key, legal, r)
	if len(tried) == 0 || c.hasDefect(DefectStored) && isDrawn(epsilon, r) {
		return legal[r.Below(len(legal))]
	}
	chosen := tried[best]
	p, _ := t.Find(u.Key, chosen)
	if c.hasDefect(DefectPlace) {
		chosen = legal[best]
		untried = append(append(untried[:0:0], legal[:best]...), legal[best+1:]...)
	}
	if t.UntriedAsZero && p.Mean < 0 && len(tried) < len(legal) {
		return untried[r.Below(len(untried))]
	}
	return chosen
}

// actions returns the legal actions of the state of u, unpacked from u.Order. They are in the order in which the seat
// got their cards.
func (u *Update) actions() (legal []uint8) {
	for i := range bits.OnesCount64(u.Legal) {
		legal = append(legal, uint8(u.Order>>(i*policy.ActionBits))%policy.MaxActions)
	}
	return legal
}

// splitTried divides the actions in legal into those that were tried in state k and those that were not, both in the
// order of legal. best is the index in tried of the action with the highest mean return; among equal ones r draws one.
// It is 0 if tried is empty.
func (t *ReturnTable) splitTried(k policy.Key, legal []uint8, r *rules.Rand) (tried, untried []uint8, best int) {
	top, ties := float32(0), 0
	for _, action := range legal {
		p, ok := t.Find(k, action)
		if !ok {
			untried = append(untried, action)
			continue
		}
		switch tried = append(tried, action); {
		case ties == 0 || p.Mean > top:
			top, ties, best = p.Mean, 1, len(tried)-1
		case p.Mean == top:
			if ties++; r.Below(ties) == 0 {
				best = len(tried) - 1
			}
		}
	}
	return tried, untried, best
}
