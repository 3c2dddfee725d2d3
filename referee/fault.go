package referee

import (
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// Fault is why a seat forfeited a game.
type Fault = fault.Fault

// MaxFaults is how many faults disqualify a bot from a match: it is not started in the
// deals after the last one.
const MaxFaults = 3

// Late returns the reason of a move that did not come in time. It does not have the rest
// of a bank: with measured times, replays of the same game would differ.
func Late(c Clock) fault.Reason {
	if c.Bank != 0 {
		return fault.Reason{Kind: fault.LateBank, Margin: c.Margin.Milliseconds()}
	}
	return fault.Reason{Kind: fault.Late, Limit: c.Move.Milliseconds(), Margin: c.Margin.Milliseconds()}
}

// Circumstances returns what a replay, and the seat's log of that game, contain about one
// of its faults, for advice. They are incomplete if there is an error.
func (r *Replay) Circumstances(g *rules.Game, f Fault, log []byte) (fault.Circumstances, error) {
	c := fault.Circumstances{Turn: fault.Turn{Ply: f.Ply}, History: fault.History{Games: r.Match.Deal + 1}}
	c.ReadLog(log)
	if f.Seat >= 0 && f.Seat < len(r.Seats) {
		c.Turn.Movetime = r.ClockOf(f.Seat).Movetime
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
		if m := s.Next; m != nil && s.State.Ply() < f.Ply && m.Seat == f.Seat && m.ByBot() {
			h := &c.History
			h.Turns, h.Longest = h.Turns+1, max(h.Longest, m.MS)
			h.Move, h.Legal = m.Move, list(s.State)
		}
		if s.State.Ply() == f.Ply && s.State.Turn() == f.Seat && !f.BeforeGame() {
			c.Turn.Legal = list(s.State)
			if _, err := (&Game{State: s.State}).parse(string(f.Reason.Move)); err != nil && f.Reason.Kind == fault.IllegalMove {
				c.Turn.Refusal = phrase.Of(err)
			}
		}
	}
	if f.Reason.Kind == fault.MoveUnasked && c.History.Turns > 0 && string(f.Reason.Line) == "move "+c.History.Move {
		c.History.Act = fault.Moved
	}
	return c, nil
}
