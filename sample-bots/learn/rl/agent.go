package rl

import (
	"math/bits"

	"github.com/timba-arena/timba/referee/rules"
)

// Memory is what an agent chooses by: a Table, or a Policy.
type Memory interface {
	// Best returns the best of the legal actions in a state, and false if it does not know.
	Best(k Key, legal uint64) (action uint8, known bool)
}

// Agent chooses actions.
type Agent struct {
	States Memory
	Votes  Memory // by the abstraction of MC-MS, what is best in most states; nil without
}

// Choose returns the action that the agent takes in what it sees, and whether it knows the state;
// if not even the votes do, the action is random.
func (a *Agent) Choose(s *Sight, r *rules.Rand) (action uint8, known bool) {
	if action, known = a.States.Best(s.Key, s.Legal); known {
		return action, true
	}
	if a.Votes != nil {
		if action, known = a.Votes.Best(s.Abs, s.Legal); known {
			return action, false
		}
	}
	return randomAction(s.Legal, r), false
}

// Choice is why an agent that explores has chosen an action.
type Choice uint8

const (
	Exploring Choice = iota // it is random, for the sake of exploring
	Unknown                 // the state is not known
	Known                   // it is the best that is known in the state
)

// Explore returns a random action with the probability epsilon, else what Choose returns.
func (a *Agent) Explore(s *Sight, epsilon float64, r *rules.Rand) (uint8, Choice) {
	if r.Uint64()>>32 < uint64(epsilon*(1<<32)) {
		return randomAction(s.Legal, r), Exploring
	}
	action, known := a.Choose(s, r)
	if known {
		return action, Known
	}
	return action, Unknown
}

// randomAction returns one of the legal actions.
func randomAction(legal uint64, r *rules.Rand) uint8 {
	return nth(legal, r.Below(bits.OnesCount64(legal)))
}

// nth returns an action of a set by its place, from 0.
func nth(set uint64, n int) uint8 {
	for ; n > 0; n-- {
		set &= set - 1
	}
	return uint8(bits.TrailingZeros64(set))
}
