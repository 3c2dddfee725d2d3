package rules

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
)

// Seats is a set of seats, one bit for each.
type Seats uint16

// AllSeats is the set of all seats.
const AllSeats Seats = 1<<MaxSeats - 1

// OneSeat returns the set that contains only seat.
func OneSeat(seat int) Seats { return 1 << seat }

// Log records the events of a move, what happened in the game, and which seats may see each event. If some
// seats may not see a part of an event, there is a second event for them with "?" in its place. A Log reuses
// its memory after Reset.
type Log struct {
	events []event
	text   []byte // of all events, joined
}

type event struct {
	seats Seats
	text  []byte
}

func (l *Log) Reset() { l.events, l.text = l.events[:0], l.text[:0] }

// Add appends an event for the given seats: a verb and its arguments, which are joined by spaces. It formats
// the common types itself because it is called for every move and package fmt would be much slower.
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

// AppendEvents appends the events that a seat sees to dst, each as prefix, text and LF.
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

// CommonEvents returns the events that each of the seats 0 to n-1 sees. It omits events whose text differs
// between seats.
func (l *Log) CommonEvents(n int) []string { return l.commonEvents(OneSeat(n) - 1) }

func (l *Log) commonEvents(seats Seats) (events []string) {
	for _, e := range l.events {
		if e.seats&seats == seats {
			events = append(events, string(e.text))
		}
	}
	return events
}

// OpenEvents returns the events with all cards open, for somebody who may see everything. An event for one
// seat names that seat, and the corresponding event with "?" for the others is omitted.
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
