// Package fault describes how a bot fails. A Reason, the error that the referee gets where it finds that a bot has
// failed, has a Kind. From the Kind follow the text for people and the advice on what to change. Begin with Reason.
package fault

import (
	"fmt"

	"github.com/timba-arena/timba/protocol"
)

// Fault is the record of a failure of a bot, by which its seat lost a game. Replays contain it.
type Fault struct {
	Seat   int           `json:"seat"`
	Ply    int           `json:"ply"` // the number of moves made before the fault
	Code   protocol.Code `json:"code"`
	Reason Reason        `json:"reason,omitzero"`
	Text   string        `json:"text"`
	// Credit is the time, in milliseconds, that other programs took from a bot that was late.
	Credit float64 `json:"credit,omitempty"`
}

// New returns the Fault of a seat. r is the reason. ply is the number of moves that were made before the fault.
func New(seat, ply int, r Reason) Fault {
	return Fault{Seat: seat, Ply: ply, Code: r.Code(), Reason: r, Text: r.Text()}
}

// String returns the fault's seat, code and text.
func (f Fault) String() string { return fmt.Sprintf("seat %d: %s: %s", f.Seat, f.Code, f.Text) }

// IsBeforeGame reports whether the bot failed before it was sent the "game" line.
func (f *Fault) IsBeforeGame() bool {
	return f.Code == protocol.Startup || f.Reason.BeforeReady || f.Reason.Kind == MoveBeforeReady
}

// IsDisqualified reports whether the seat forfeited because the bot was disqualified for earlier faults.
func (f *Fault) IsDisqualified() bool { return f.Reason.Kind == Disqualified }

// HadNoProcess reports whether the seat lost the game without a running bot: the bot could not be started, or was
// disqualified.
func (f *Fault) HadNoProcess() bool {
	return f.Reason.Kind.IsUnstarted() && !f.Reason.BeforeReady || f.IsDisqualified()
}

// HouseFailed reports whether timba is to blame for a fault of a house bot, a bot that comes with timba. That is so
// for all faults except being late. A house bot that is late loses the game like any other bot, because on a machine
// that is too slow for it, it would be late again.
func (f *Fault) HouseFailed() bool {
	return f.Code != protocol.Timeout && f.Reason.Kind != NoReady && !f.IsDisqualified() // house bots are disqualified for being late
}

// Brief returns a text about a fault that the other seats may see. The full text could reveal cards of the seat whose
// bot failed.
func Brief(code protocol.Code) string {
	switch code {
	case protocol.Startup:
		return "the bot did not start"
	case protocol.Timeout:
		return "the bot did not answer in time"
	case protocol.Illegal:
		return "the bot made a move that is not in its list"
	case protocol.Garbled:
		return "the bot wrote a line that the protocol does not have"
	case protocol.Exit:
		return "the bot's process ended"
	case protocol.Output:
		return "the bot wrote too much"
	}
	return "the bot broke a limit of the sandbox"
}
