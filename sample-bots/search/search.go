// Package search has the types that the search methods of the house bots share. Each method is a package
// below this one. They are generic over the concrete state of a game, so that their inner loops neither
// allocate nor call methods through an interface value.
package search

import (
	"time"

	"github.com/timba-arena/timba/rules"
)

// DefaultArena is the default size, in bytes, of the memory for a search's tree or table.
const DefaultArena = 64 << 20

// Budget limits a search, which ends when it reaches either limit. A zero field means no limit. A search that is
// limited only by Nodes always has the same result.
type Budget struct {
	Nodes    uint64 // number of moves made or, in a Monte Carlo tree search, of iterations
	Deadline time.Time
}

// Half returns a budget with half the nodes of b, rounded up, and half the time from now to the deadline of b. A limit
// that b does not have is not added.
func (b Budget) Half() Budget {
	b.Nodes = (b.Nodes + 1) / 2
	if !b.Deadline.IsZero() {
		b.Deadline = b.Deadline.Add(-time.Until(b.Deadline) / 2)
	}
	return b
}

// Result is the result of a Monte Carlo tree search.
type Result struct {
	Move   rules.Move
	Value  float64      // expected score of the side that makes Move, from 0 to 1
	Visits int          // number of iterations that tried Move
	Nodes  uint64       // number of iterations of this search
	Line   []rules.Move // expected moves, beginning with Move; valid until the next search
}

// Meter counts the nodes of a search and detects when the search has used up its budget of time or nodes.
type Meter struct {
	budget    Budget
	nodes     uint64
	nextCheck uint64 // number of nodes at which the budget is checked next
	interval  uint64
	spent     bool
}

// NewMeter returns a Meter for the budget b. every is the number of counted nodes between two readings of the
// clock.
func NewMeter(b Budget, every uint64) Meter {
	m := Meter{budget: b, interval: every}
	m.checkLimits()
	return m
}

// Count counts one node and returns true. If the budget is used up, it counts nothing and returns false.
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

// Extend replaces the budget of m by b, so that a search can go on when its first budget is used up. b includes what
// the search has used so far: nodes that were counted before also count for b.
func (m *Meter) Extend(b Budget) {
	m.budget, m.spent = b, false
	m.checkLimits()
}

// Nodes returns the number of nodes counted so far.
func (m *Meter) Nodes() uint64 { return m.nodes }

// IsSpent reports whether the budget was used up at the last check, which NewMeter, Extend or Count has made.
func (m *Meter) IsSpent() bool { return m.spent }

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

// Pick finds the move with the highest rank in moves[i:], exchanges it and its rank with those at index i, and
// returns it. ranks has the rank of each move. Repeated calls replace sorting, because a search usually needs only
// the first moves of a position.
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
