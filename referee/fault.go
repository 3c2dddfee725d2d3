package referee

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
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

// appendFault appends the line for a fault. Only the culprit gets the full text, which may reveal its
// cards; the others get the brief one.
func appendFault(dst []byte, seat int, f *Fault) []byte {
	text := f.Text
	if seat != f.Seat {
		text = fault.Brief(f.Code)
	}
	return protocol.AppendFault(dst, f.Seat, f.Code, text)
}
