package rl

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Explore returns a random action with the probability epsilon, else what the agent has chosen, and
// whether it knows the state.
func Explore(a *policy.Agent, v *policy.View, epsilon float64, r *rules.Rand) (action uint8, chosen, known bool) {
	if r.Uint64()>>32 < uint64(epsilon*(1<<32)) {
		return policy.Random(v.Legal, r), false, false
	}
	action, known = a.Choose(v, r)
	return action, true, known
}
