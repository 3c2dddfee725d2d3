package rl

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Choice is why an agent that explores has chosen an action.
type Choice uint8

const (
	Exploring Choice = iota // it is random, for the sake of exploring
	Unknown                 // the state is not known
	Known                   // it is the best that is known in the state
)

// Explore returns a random action with the probability epsilon, else what the agent chooses.
func Explore(a *policy.Agent, v *policy.View, epsilon float64, r *rules.Rand) (uint8, Choice) {
	if r.Uint64()>>32 < uint64(epsilon*(1<<32)) {
		return policy.Random(v.Legal, r), Exploring
	}
	action, known := a.Choose(v, r)
	if known {
		return action, Known
	}
	return action, Unknown
}
