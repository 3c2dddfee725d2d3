package rules

import (
	"fmt"
	"math/bits"
	"strings"
)

// Seats is a set of seats, one bit each.
type Seats uint16

// All is the set of all seats.
const All Seats = 1<<MaxSeats - 1

// Only returns the set of one seat.
func Only(seat int) Seats { return 1 << seat }

// Event is something that happened in a game, a verb and its arguments, and the seats that
// see it. What some seats must not see is "?" in an event of its own for them.
type Event struct {
	To   Seats
	Text string
}

// Log is the events of a move. Its memory is reused for the next move.
type Log []Event

// Reset empties the log.
func (l *Log) Reset() { *l = (*l)[:0] }

// Add appends an event.
func (l *Log) Add(to Seats, format string, args ...any) {
	*l = append(*l, Event{to, fmt.Sprintf(format, args...)})
}

// Events appends the events that a seat sees, each as prefix, text and LF.
func (l Log) Events(dst []byte, seat int, prefix string) []byte {
	for _, e := range l {
		if e.To&Only(seat) != 0 {
			dst = append(append(append(dst, prefix...), e.Text...), '\n')
		}
	}
	return dst
}

// Seen returns the events that a seat sees.
func (l Log) Seen(seat int) []string { return l.common(Only(seat)) }

// Common returns the events that all of so many seats see, and none that says different things to
// different seats.
func (l Log) Common(seats int) []string { return l.common(Only(seats) - 1) }

// common returns the events that all of some seats see.
func (l Log) common(seats Seats) (events []string) {
	for _, e := range l {
		if e.To&seats == seats {
			events = append(events, e.Text)
		}
	}
	return events
}

// Open returns the events with all cards open: an event for one seat names the seat, and
// the event for the others, with "?", is left out.
func (l Log) Open() (events []string) {
	for _, e := range l {
		switch {
		case strings.Contains(e.Text, " ?"):
		case bits.OnesCount16(uint16(e.To)) == 1:
			events = append(events, fmt.Sprintf("%s (seat %d)", e.Text, bits.TrailingZeros16(uint16(e.To))))
		default:
			events = append(events, e.Text)
		}
	}
	return events
}
