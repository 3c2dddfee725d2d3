package referee

import (
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules"
)

// Circumstances returns what a replay, and the seat's log of that game, contain about one
// of its faults, for advice. They are incomplete if there is an error.
func (r *Replay) Circumstances(g *rules.Game, f Fault, log []byte) (fault.Circumstances, error) {
	c := fault.Circumstances{
		Ply: f.Ply, Games: r.Match.Deal + 1,
		Stderr: fault.Lines(log),
	}
	if f.Seat >= 0 && f.Seat < len(r.Seats) {
		c.Movetime = r.ClockOf(f.Seat).Movetime
	}
	list := func(s rules.State) (moves []string) {
		for _, m := range s.Legal(nil) {
			moves = append(moves, string(s.MoveText(nil, m)))
		}
		return moves
	}
	v, err := r.Resolve(g)
	if err != nil {
		return c, err
	}
	for s, err := range r.Walk(v, nil) {
		if err != nil {
			return c, err
		}
		if m := s.Next; m != nil && s.State.Ply() < f.Ply && m.Seat == f.Seat && !m.StandIn {
			c.Turns++
			c.Last, c.Before, c.Longest = m.Move, list(s.State), max(c.Longest, m.MS)
		}
		if s.State.Ply() == f.Ply && s.State.Turn() == f.Seat && !f.BeforeGame() {
			c.Legal = list(s.State)
		}
	}
	if f.Reason.Kind == fault.MoveUnasked && c.Turns > 0 && string(f.Reason.Line) == "move "+c.Last {
		c.Did = fault.Moved
	}
	return c, nil
}
