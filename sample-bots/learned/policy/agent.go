package policy

import (
	"github.com/timba-arena/timba/referee/rules"
)

// Memory is what an agent chooses by: a Policy, or the table of a training.
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
func (a *Agent) Choose(v *View, r *rules.Rand) (action uint8, known bool) {
	if action, known = a.States.Best(v.Key, v.Legal); known {
		return action, true
	}
	if a.Votes != nil {
		if action, known = a.Votes.Best(v.Abs, v.Legal); known {
			return action, false
		}
	}
	return Random(v.Legal, r), false
}
