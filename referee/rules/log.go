package rules

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
)

// Seats is a set of seats, one bit each.
type Seats uint16

// All is the set of all seats.
const All Seats = 1<<MaxSeats - 1

// Only returns the set of one seat.
func Only(seat int) Seats { return 1 << seat }

// Log collects the events of a move, each with the seats that see it. Its memory is
// reused for the next move.
type Log struct {
	text  []byte
	lines []line
}

type line struct {
	to         Seats
	start, end int
}

// Reset empties the log.
func (l *Log) Reset() { l.text, l.lines = l.text[:0], l.lines[:0] }

// Begin starts an event that the seats of to will see; Word and Int add
// its arguments. An event with "?" for hidden arguments is a separate event.
func (l *Log) Begin(to Seats, verb string) {
	start := len(l.text)
	l.text = append(l.text, verb...)
	l.lines = append(l.lines, line{to, start, len(l.text)})
}

// Word adds an argument to the event begun last.
func (l *Log) Word(s string) {
	l.text = append(append(l.text, ' '), s...)
	l.lines[len(l.lines)-1].end = len(l.text)
}

// Int adds a number to the event begun last.
func (l *Log) Int(n int) {
	l.text = strconv.AppendInt(append(l.text, ' '), int64(n), 10)
	l.lines[len(l.lines)-1].end = len(l.text)
}

// Events appends the events that a seat sees, each as prefix, text and LF.
func (l *Log) Events(dst []byte, seat int, prefix string) []byte {
	for _, e := range l.lines {
		if e.to&Only(seat) != 0 {
			dst = append(dst, prefix...)
			dst = append(dst, l.text[e.start:e.end]...)
			dst = append(dst, '\n')
		}
	}
	return dst
}

// Seen returns the events that a seat sees.
func (l *Log) Seen(seat int) (events []string) {
	for _, e := range l.lines {
		if e.to&Only(seat) != 0 {
			events = append(events, string(l.text[e.start:e.end]))
		}
	}
	return events
}

// Common returns the events that all of so many seats see, and none that says different things to
// different seats.
func (l *Log) Common(seats int) (events []string) {
	all := Only(seats) - 1
	for _, e := range l.lines {
		if e.to&all == all {
			events = append(events, string(l.text[e.start:e.end]))
		}
	}
	return events
}

// Open returns the events with all cards open: an event for one seat names the seat, and
// the event for the others, with "?", is left out.
func (l *Log) Open() (events []string) {
	for _, e := range l.lines {
		text := l.text[e.start:e.end]
		switch {
		case bytes.Contains(text, []byte(" ?")):
		case bits.OnesCount16(uint16(e.to)) == 1:
			events = append(events, fmt.Sprintf("%s (seat %d)", text, bits.TrailingZeros16(uint16(e.to))))
		default:
			events = append(events, string(text))
		}
	}
	return events
}
