package match

import (
	"time"

	"github.com/timba-arena/timba/referee"
)

// OwnTime sums the time of all moves of a match with one worker, without credit, and without the games
// that are void: these are played again because of others.
type OwnTime struct{ over, game time.Duration }

// Watch is for Match.Watch.
func (o *OwnTime) Watch(g *referee.Game) {
	n := len(g.Record.Moves)
	switch {
	case n == 0:
		o.game = 0
	case g.Ended():
		o.over, o.game = o.over+o.game, 0
	default:
		o.game += g.Record.Moves[n-1].Own()
	}
}

// Sum returns the sum so far.
func (o *OwnTime) Sum() time.Duration { return o.over + o.game }
