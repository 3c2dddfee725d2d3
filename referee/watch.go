package referee

import (
	"time"

	"github.com/timba-arena/timba/referee/rules"
)

// Position is a position of a game in progress: the deal, the position after a move, or the end.
// It is valid during the call that gets it.
type Position struct {
	// Replay is what is recorded so far. Its elements are not changed before the game has ended,
	// and Moves and Faults only grow, so that a copy of the Replay stays valid until then. It has
	// no ranks before the end.
	Replay *Replay
	// State is not to be changed.
	State rules.State
	// Over reports whether the game has ended. The end comes after the position of the last move.
	Over bool

	timers []timer
}

// Left returns the time that a seat has for its next move.
func (p Position) Left(seat int) time.Duration { return p.timers[seat].left() }

// watch passes the position to Match.Watch.
func (g *game) watch(over bool) {
	if g.match.Watch != nil {
		g.match.Watch(Position{Replay: &g.replay, State: g.state, Over: over, timers: g.timers})
	}
}
