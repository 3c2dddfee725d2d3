// Package search has the types that the search methods of the house bots share. Each method is a package
// below this one. They are generic over the concrete state of a game, so that their inner loops neither
// allocate nor call methods through an interface value.
package search

import (
	"time"

	"github.com/timba-arena/timba/rules"
)

// DefaultArena is the default size of a search's tree or table in bytes.
const DefaultArena = 64 << 20

// Budget limits a search, which ends when it reaches the first limit. A zero field sets no limit. A search
// that is limited only by Nodes is deterministic.
type Budget struct {
	Nodes    uint64 // positions reached by a move; in a Monte Carlo tree search, iterations
	Deadline time.Time
}

// Result is the result of a Monte Carlo tree search.
type Result struct {
	Move   rules.Move
	Value  float64      // expected score of the side that makes Move, from 0 to 1
	Visits int          // iterations through Move
	Nodes  uint64       // iterations of this search
	Line   []rules.Move // expected moves, beginning with Move; valid until the next search
}

// Meter counts the nodes of a search and checks its budget.
type Meter struct {
	budget    Budget
	nodes     uint64
	nextCheck uint64 // node count at which the budget is checked again
	interval  uint64
	spent     bool
}

// NewMeter returns a Meter for a budget. every is the number of nodes between two readings of the clock.
func NewMeter(b Budget, every uint64) Meter {
	m := Meter{budget: b, interval: every}
	m.checkLimits()
	return m
}

// Count counts one node. If the budget is spent, it counts nothing and returns false.
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

// checkLimits checks the budget and sets nextCheck.
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

// Pick swaps the move of the highest rank among moves[i:] to index i, together with its rank, and returns it.
// It replaces sorting, because most positions need only a few of their moves.
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
