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
