package rl

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// publishedAction returns the action that the program of R. Arjonilla's thesis stores for the state of u, after t has
// learned u. With DefectStored it is random with the probability epsilon. Otherwise it is the best of the tried actions
// or, if the means of these are negative and others are untried, a random one of the others. With DefectPlace the action
// in the place that the best one has among the tried actions, but among all legal ones, stands for the best one.
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

// actions returns the legal actions in the order of the hand.
func (u *Update) actions() (legal []uint8) {
	for i := range bits.OnesCount64(u.Legal) {
		legal = append(legal, uint8(u.Order>>(i*policy.ActionBits))%policy.MaxActions)
	}
	return legal
}

// splitTried returns the tried and the untried actions of state k among legal, in the order of legal. best is the index
// in tried of the action with the highest mean; of several, r draws one.
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
