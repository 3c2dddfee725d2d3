// Package search has what the searches of the house bots share. Each method has a package of its
// own below it. They are generic over the concrete state of a game, so that nothing in their
// inner loops allocates or goes through an interface value.
package search

import (
	"time"

	"github.com/timba-arena/timba/rules"
)

// DefaultArena is the size of a tree or table in bytes unless an option says otherwise.
const DefaultArena = 64 << 20

// Budget bounds a search, which ends when the first of its limits is reached. Limits that are
// zero do not bound. A search with a budget of nodes alone is deterministic.
type Budget struct {
	Nodes    uint64 // positions made by a move; of MCTS, iterations
	Deadline time.Time
}

// Result is what a Monte Carlo tree search has found.
type Result struct {
	Move   rules.Move
	Value  float64 // what the side to move can expect after it, 0 to 1
	Visits int     // of the move
	Nodes  uint64  // iterations of this search
	Line   []rules.Move
}

// Meter counts the nodes of a search and tells when its budget is spent.
type Meter struct {
	budget    Budget
	nodes     uint64
	nextCheck uint64 // when the clock is read again
	interval  uint64
	spent     bool
}

// NewMeter returns the meter of a budget. It reads the clock once in so many nodes.
func NewMeter(b Budget, every uint64) Meter {
	m := Meter{budget: b, interval: every}
	m.checkLimits()
	return m
}

// Count counts one node. It returns false when the budget is spent.
func (m *Meter) Count() bool {
	if m.nodes == m.nextCheck {
		m.checkLimits()
	}
	if m.spent {
		return false
	}
	m.nodes++
	return true
}

// Nodes returns the number of nodes counted.
func (m *Meter) Nodes() uint64 { return m.nodes }

// IsSpent reports whether the budget is spent.
func (m *Meter) IsSpent() bool { return m.spent }

// checkLimits finds out whether the search has to stop, and else when to look again.
func (m *Meter) checkLimits() {
	m.nextCheck = m.nodes + m.interval
	if n := m.budget.Nodes; n > 0 {
		m.spent = m.spent || m.nodes >= n
		m.nextCheck = min(m.nextCheck, n)
	}
	if d := m.budget.Deadline; !d.IsZero() && !time.Now().Before(d) {
		m.spent = true
	}
}

// Pick puts the move of the highest rank from i on at i, with its rank, and returns it. Most
// positions are done after a few moves, so that sorting all would be wasted.
func Pick(moves []rules.Move, ranks []int32, i int) rules.Move {
	at := i
	for j := i + 1; j < len(moves); j++ {
		if ranks[j] > ranks[at] {
			at = j
		}
	}
	moves[at], moves[i] = moves[i], moves[at]
	ranks[at], ranks[i] = ranks[i], ranks[at]
	return moves[i]
}
