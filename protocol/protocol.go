// Package protocol is the line protocol between the referee and a bot: it parses and
// formats every line, and has a loop for bots written in Go. It does not depend on
// processes or games.
//
// A line is printable ASCII, its tokens separated by one space, ended by LF.
// SPEC.md, "Shape", is the contract.
package protocol

import (
	"encoding/binary"
	"strconv"
)

const (
	// Version is the protocol's version, as in the greeting.
	Version = 1
	// MaxLine is the maximum length of a line in bytes, without its LF and the CR before it.
	MaxLine = 4096
	// MaxOutput is the maximum number of bytes that a bot may write between two turns.
	MaxOutput = 64 << 10
	// MaxSeed is the largest seed of a bot: every language can represent it exactly, even
	// JavaScript.
	MaxSeed = 1<<53 - 1
)

// Code is the code of a fault.
type Code string

// The codes.
const (
	Startup   Code = "startup"   // no ready in time: not started, too slow, or exited
	Timeout   Code = "timeout"   // no answer within the turn's time
	Illegal   Code = "illegal"   // the move is not in the list
	Garbled   Code = "garbled"   // a line that is not part of the protocol
	Exit      Code = "exit"      // the process ended
	Output    Code = "output"    // more than MaxOutput
	Memory    Code = "memory"    // the memory limit was hit
	Processes Code = "processes" // the limit on processes was hit
	Forbidden Code = "forbidden" // a system call that the sandbox does not allow
)

// Codes lists every code.
var Codes = []Code{Startup, Timeout, Illegal, Garbled, Exit, Output, Memory, Processes, Forbidden}

// maxQuoted is the maximum number of bytes of a line that an error quotes.
const maxQuoted = 80

// Quote quotes a line for an error as printable ASCII. A long line is cut, with "..." after
// the closing quote.
func Quote(line []byte) string {
	if len(line) > maxQuoted {
		return strconv.QuoteToASCII(string(line[:maxQuoted])) + ellipsis
	}
	return strconv.QuoteToASCII(string(line))
}

// Clip returns the part of a line that Quote quotes, followed by "..." if the line is
// longer. Quote returns the same for both.
func Clip(line []byte) string {
	if len(line) > maxQuoted {
		return string(line[:maxQuoted]) + ellipsis
	}
	return string(line)
}

// unprintable returns the index of the first byte outside 0x20..0x7e, -1 if there is none.
// It checks eight bytes at a time, because it is called for every line.
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

// badSpacing reports whether tokens are separated by anything but one space.
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

// dropCR returns the line without one CR at its end.
func dropCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}
