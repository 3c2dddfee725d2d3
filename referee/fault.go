package referee

import (
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules"
)

// Fault is why a seat forfeited a game.
type Fault = fault.Fault

// MaxFaults is how many faults disqualify a bot from a match: it is not started in the
// deals after the last one.
const MaxFaults = 3

func disqualified() *Fault {
	return fault.New(fault.Reason{Kind: fault.Disqualified, Limit: MaxFaults})
}

// Late returns the reason of a move that did not come in time. It does not have the rest
// of a bank: with measured times, replays of the same game would differ.
func Late(c Clock) fault.Reason {
	if c.Bank != 0 {
		return fault.Reason{Kind: fault.LateBank, Margin: c.Margin.Milliseconds()}
	}
	return fault.Reason{Kind: fault.Late, Limit: c.Move.Milliseconds(), Margin: c.Margin.Milliseconds()}
}

// notReading returns the fault of a bot that does not read its pipe.
func notReading() *Fault { return fault.New(fault.Reason{Kind: fault.NotReading}) }

// AppendOthersFault appends the line for another seat's fault. It has only the brief
// text, since the full one may reveal the culprit's cards.
func AppendOthersFault(dst []byte, culprit int, code protocol.Code) []byte {
	return protocol.AppendFault(dst, culprit, code, fault.Brief(code))
}

// appendFault appends the line for a fault; only the culprit gets the full text.
func appendFault(dst []byte, seat int, f *Fault) []byte {
	if seat != f.Seat {
		return AppendOthersFault(dst, f.Seat, f.Code)
	}
	return protocol.AppendFault(dst, f.Seat, f.Code, f.Text)
}

// Circumstances returns what a replay, and the seat's log of that game, contain about one
// of its faults, for advice. They are incomplete if there is an error.
func (r *Replay) Circumstances(g rules.Game, f Fault, log []byte) (fault.Circumstances, error) {
	c := fault.Circumstances{
		Ply: f.Ply, Games: r.Match.Deal + 1,
		Stderr: strings.FieldsFunc(string(log), func(r rune) bool { return r == '\n' }),
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
		if m := s.Record; m != nil && s.State.Ply() < f.Ply && m.Seat == f.Seat && !m.StandIn {
			c.Turns++
			c.Before, c.Longest = list(s.State), max(c.Longest, m.MS)
		}
		if s.State.Ply() == f.Ply && s.State.Turn() == f.Seat && !f.BeforeGame() {
			c.Legal = list(s.State)
		}
	}
	return c, nil
}
