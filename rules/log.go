package rules

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
)

// Seats is a set of seats, with bit 1<<seat for each seat in it.
type Seats uint16

// AllSeats is the set of all seats.
const AllSeats Seats = 1<<MaxSeats - 1

func OneSeat(seat int) Seats { return 1 << seat }

// Log collects events and, for each event, which seats may see it. An event is a text about what happened in the
// game. If some seats may not see a part of it, the Log has a second event for them, with "?" in place of that part.
// A Log reuses its memory after Reset.
type Log struct {
	events []event
	text   []byte // of all events, joined
}

type event struct {
	seats Seats
	text  []byte
}

func (l *Log) Reset() { l.events, l.text = l.events[:0], l.text[:0] }

// Add appends an event that only the seats in the set to may see. words are a verb and its arguments, which Add
// formats and joins by spaces. For speed, it formats common types without package fmt.
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

// AppendEvents appends to dst the events that a seat may see. Each event is one line, which begins with prefix and
// ends with LF.
func (l *Log) AppendEvents(dst []byte, seat int, prefix string) []byte {
	for _, e := range l.events {
		if e.seats&OneSeat(seat) != 0 {
			dst = append(append(append(dst, prefix...), e.text...), '\n')
		}
	}
	return dst
}

func (l *Log) EventsFor(seat int) []string { return l.commonEvents(OneSeat(seat)) }

// CommonEvents returns the events that all of the seats 0 to n-1 may see. It omits an event if its text is not the
// same for all these seats.
func (l *Log) CommonEvents(n int) []string { return l.commonEvents(OneSeat(n) - 1) }

func (l *Log) commonEvents(seats Seats) (events []string) {
	for _, e := range l.events {
		if e.seats&seats == seats {
			events = append(events, string(e.text))
		}
	}
	return events
}

// OpenEvents returns the events for an observer who may see everything. If only one seat saw an event, the number of
// that seat follows the text. If an event has a second version with "?" in place of something hidden, that version is
// omitted.
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
