package rules

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
)

// Seats is a set of seats, one bit each.
type Seats uint16

// AllSeats is the set of all seats.
const AllSeats Seats = 1<<MaxSeats - 1

// OneSeat returns the set of one seat.
func OneSeat(seat int) Seats { return 1 << seat }

// Log is the events of a move: what happened in the game, each with the seats that see it. What some
// seats must not see is "?" in an event of its own for them. Its memory is reused for the next move.
type Log struct {
	events []event
	text   []byte // of all events
}

type event struct {
	seats Seats
	text  []byte
}

// Reset empties the log.
func (l *Log) Reset() { l.events, l.text = l.events[:0], l.text[:0] }

// Add appends an event: a verb and its arguments, which are written with a space between them. It is
// called at every move, and package fmt, which writes values of other types, would take most of the time.
func (l *Log) Add(to Seats, words ...any) {
	begin := len(l.text)
	for i, word := range words {
		if i > 0 {
			l.text = append(l.text, ' ')
		}
		switch w := word.(type) {
		case string:
			l.text = append(l.text, w...)
		case int:
			l.text = strconv.AppendInt(l.text, int64(w), 10)
		case fmt.Stringer:
			l.text = append(l.text, w.String()...)
		default:
			l.text = fmt.Append(l.text, w)
		}
	}
	l.events = append(l.events, event{to, l.text[begin:]})
}

// AppendEvents appends the events that a seat sees, each as prefix, text and LF.
func (l *Log) AppendEvents(dst []byte, seat int, prefix string) []byte {
	for _, e := range l.events {
		if e.seats&OneSeat(seat) != 0 {
			dst = append(append(append(dst, prefix...), e.text...), '\n')
		}
	}
	return dst
}

// EventsFor returns the events that a seat sees.
func (l *Log) EventsFor(seat int) []string { return l.commonEvents(OneSeat(seat)) }

// CommonEvents returns the events that all of so many seats see, and none that says different things to
// different seats.
func (l *Log) CommonEvents(seats int) []string { return l.commonEvents(OneSeat(seats) - 1) }

// commonEvents returns the events that all of some seats see.
func (l *Log) commonEvents(seats Seats) (events []string) {
	for _, e := range l.events {
		if e.seats&seats == seats {
			events = append(events, string(e.text))
		}
	}
	return events
}

// OpenEvents returns the events with all cards open: an event for one seat names the seat, and
// the event for the others, with "?", is left out.
func (l *Log) OpenEvents() (events []string) {
	for _, e := range l.events {
		switch {
		case bytes.Contains(e.text, []byte(" ?")):
		case bits.OnesCount16(uint16(e.seats)) == 1:
			events = append(events, fmt.Sprintf("%s (seat %d)", e.text, bits.TrailingZeros16(uint16(e.seats))))
		default:
			events = append(events, string(e.text))
		}
	}
	return events
}
