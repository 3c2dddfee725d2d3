package referee

import "time"

// OwnTime sums the time of all moves of a match with one worker, without credit, and without the games
// that are void: these are played again because of others.
type OwnTime struct{ over, game time.Duration }

// Watch is for Match.Watch.
func (o *OwnTime) Watch(p Position) {
	n := len(p.Replay.Moves)
	switch {
	case n == 0:
		o.game = 0
	case p.Over:
		o.over, o.game = o.over+o.game, 0
	default:
		o.game += p.Replay.Moves[n-1].taken()
	}
}

// Sum returns the sum so far.
func (o *OwnTime) Sum() time.Duration { return o.over + o.game }
