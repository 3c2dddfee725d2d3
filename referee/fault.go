package referee

import (
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// Fault is the record of why a seat lost a game by a failure of its bot.
type Fault = fault.Fault

// MaxFaults is the number of faults in a match after which a bot is disqualified. A disqualified bot loses the
// remaining games of the match without being started.
const MaxFaults = 3

// LateReason returns the fault.Reason for a move that took longer than the clock c allows. For a clock with a bank,
// it does not contain the time that was left. That time is measured, so that it would make replays of the same game
// differ.
func LateReason(c Clock) fault.Reason {
	if c.Bank != 0 {
		return fault.Reason{Kind: fault.LateBank, Margin: c.Margin.Milliseconds()}
	}
	return fault.Reason{Kind: fault.Late, Limit: c.Move.Milliseconds(), Margin: c.Margin.Milliseconds()}
}

// Circumstances returns what is known about the fault f in the game of r, such as the bot's earlier turns.
// fault.Reason.Advice uses it. log is what the bot wrote to its log in this game. If the moves of the replay are not
// legal by the rules of g, Circumstances returns an error, together with the part that it knows without playing the
// moves again.
func (r *Replay) Circumstances(g *rules.Game, f Fault, log []byte) (fault.Circumstances, error) {
	c := fault.Circumstances{Turn: fault.FailedTurn{Ply: f.Ply}, History: fault.History{Games: r.Match.Deal + 1}}
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
		if s.State.Ply() == f.Ply && s.State.Turn() == f.Seat && !f.IsBeforeGame() {
			c.Turn.Legal = list(s.State)
			if _, err := (&Game{State: s.State}).parse(string(f.Reason.Move)); err != nil && f.Reason.Kind == fault.IllegalMove {
				c.Turn.Refusal = phrase.FromError(err)
			}
		}
	}
	if f.Reason.Kind == fault.MoveUnasked && c.History.Turns > 0 && string(f.Reason.Line) == "move "+c.History.Move {
		c.History.Act = fault.Moved
	}
	return c, nil
}
