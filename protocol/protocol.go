// Package protocol is the line protocol between the referee and a bot: it
// parses and formats every line, and has a loop for bots written in Go. It
// knows no processes and no games.
//
// A line is printable ASCII, its tokens separated by one space, ended by LF.
// SPEC.md, "Shape", is the contract.
package protocol

import (
	"encoding/binary"
	"strconv"
)

const (
	// Version is the protocol's version, told in the greeting.
	Version = 1
	// MaxLine is the most bytes of a line, without its LF and the CR before it.
	MaxLine = 4096
	// MaxOutput is the most bytes that a bot may write between two turns.
	MaxOutput = 64 << 10
	// MaxSeed is the largest seed that a bot is given: a whole number that every
	// language can hold, JavaScript's included.
	MaxSeed = 1<<53 - 1
)

// Code is the kind of a fault.
type Code string

// The ways to fail.
const (
	Startup   Code = "startup"   // no ready in time, or it could not be started or exited first
	Timeout   Code = "timeout"   // no answer within the turn's time
	Illegal   Code = "illegal"   // the move is not in the list
	Garbled   Code = "garbled"   // a line that the protocol does not have
	Exit      Code = "exit"      // the process ended
	Output    Code = "output"    // more than MaxOutput
	Memory    Code = "memory"    // the memory limit was hit
	Processes Code = "processes" // the limit on processes was hit
	Forbidden Code = "forbidden" // something that the sandbox does not allow
)

// Codes lists every code.
var Codes = []Code{Startup, Timeout, Illegal, Garbled, Exit, Output, Memory, Processes, Forbidden}

// quoted is the most bytes of a line that an error quotes.
const quoted = 80

// Quote quotes a line for an error: printable ASCII, cut to a sensible length
// with "..." after the closing quote.
func Quote(line []byte) string {
	if len(line) > quoted {
		return strconv.QuoteToASCII(string(line[:quoted])) + "..."
	}
	return strconv.QuoteToASCII(string(line))
}

// unprintable is the index of the first byte outside 0x20..0x7e, -1 if there is
// none. It looks at eight bytes at a time: every line of every game passes here.
func unprintable(line []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(line); i += 8 {
		x := binary.LittleEndian.Uint64(line[i:])
		below := (x - ones*0x20) &^ x // a high bit where a byte is below 0x20
		above := (x + ones) | x       // a high bit where a byte is above 0x7e
		if (below|above)&highs != 0 {
			break
		}
	}
	for ; i < len(line); i++ {
		if line[i] < 0x20 || line[i] > 0x7e {
			return i
		}
	}
	return -1
}

// badSpacing tells whether tokens are separated by anything but one space.
func badSpacing(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	last := byte(' ')
	for _, c := range line {
		if c == ' ' && last == ' ' {
			return true
		}
		last = c
	}
	return last == ' '
}

// dropCR is the line without one CR at its end.
func dropCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}
