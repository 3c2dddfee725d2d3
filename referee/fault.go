package referee

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/protocol"
)

// Fault is how a seat came to forfeit a game.
type Fault struct {
	Seat int           `json:"seat"`
	Ply  int           `json:"ply"` // moves made before it
	Code protocol.Code `json:"code"`
	Text string        `json:"text"`
}

// Error makes a fault an error while it is on its way to the game.
func (f *Fault) Error() string {
	return fmt.Sprintf("seat %d: %s: %s", f.Seat, f.Code, f.Text)
}

func faultf(code protocol.Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Beginnings and ends of texts that tell where a fault came from: no other text
// has them, since what a bot wrote is quoted in the middle.
const (
	beforeReady     = `before "ready": `
	notStarted      = "could not be started: "
	moveBeforeReady = ` came before "ready": answer the line "timba 1" with "ready" first`
	moveUnasked     = " came when no move was asked for: answer each turn line once, within its time"
)

// BeforeGame tells whether a fault came before its bot was told of the game.
func (f *Fault) BeforeGame() bool {
	return f.Code == protocol.Startup || strings.HasPrefix(f.Text, beforeReady) || strings.HasSuffix(f.Text, moveBeforeReady)
}

// Disqualified tells whether a bot was out of the game for its earlier faults.
func (f *Fault) Disqualified() bool { return f.Text == disqualified().Text }

// unstarted tells whether the fault's bot had no process.
func (f *Fault) unstarted() bool {
	return strings.HasPrefix(f.Text, notStarted) || f.Disqualified()
}

// unasked tells whether it is certain that no turn was sent before the fault.
func (f *Fault) unasked() bool { return strings.HasSuffix(f.Text, moveUnasked) }

// brief is what others are told of a fault.
func brief(code protocol.Code) string {
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

// MaxFaults is how many faults a bot may have in a match: from the deal after
// that on it is not started any more.
const MaxFaults = 3

func disqualified() *Fault {
	return faultf(protocol.Startup, "forfeits the rest of the match after %d faults", MaxFaults)
}

// timedOut does not tell what was left of a bank: a text that depends on times
// would make each replay of the same game another.
func timedOut(c Clock) *Fault {
	limit := "the rest of its bank"
	if c.Bank == 0 {
		limit = fmt.Sprintf("%d ms", c.Move.Milliseconds())
	}
	return faultf(protocol.Timeout, "no move within %s and the margin of %d ms: think for less than the milliseconds that the turn line gives, and flush the output after every line",
		limit, c.Margin.Milliseconds())
}
