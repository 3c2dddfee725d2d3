// Package protocol implements the line protocol between the referee and a bot. It parses and formats every
// line, and Serve runs a bot written in Go. The package knows nothing of processes or of particular games.
//
// A line is printable ASCII and ends in LF. Its tokens are separated by single spaces. The section "Shape" of
// SPEC.md defines the format. The referee side uses ParseBot and the Append functions; the bot side uses
// Serve, or ParseReferee, AppendReady and AppendMove.
package protocol

import (
	"encoding/binary"
	"strconv"
)

const (
	// Version is the version of the protocol, which the greeting announces.
	Version = 1
	// MaxLine is the maximum length of a line in bytes, not counting its CR and LF.
	MaxLine = 4096
	// MaxOutput is the maximum number of bytes that a bot may write between two turns.
	MaxOutput = 64 << 10
	// MaxSeed is the largest seed that a bot is given. Every language can represent it exactly, even JavaScript.
	MaxSeed = 1<<53 - 1
)

// Code identifies the kind of a fault, the reason why a seat forfeited a game.
type Code string

// The codes of faults.
const (
	Startup   Code = "startup"   // the bot did not print "ready" in time: it did not start, was too slow, or exited
	Timeout   Code = "timeout"   // the bot did not answer within the time of its turn
	Illegal   Code = "illegal"   // the move is not one of the listed moves
	Garbled   Code = "garbled"   // the line is not part of the protocol
	Exit      Code = "exit"      // the process ended
	Output    Code = "output"    // the bot wrote more than MaxOutput bytes
	Memory    Code = "memory"    // the bot exceeded its memory limit
	Processes Code = "processes" // the bot exceeded the limit on its processes
	Forbidden Code = "forbidden" // the bot made a system call that the sandbox does not allow
)

// Codes lists every fault code.
var Codes = []Code{Startup, Timeout, Illegal, Garbled, Exit, Output, Memory, Processes, Forbidden}

// maxQuoted is the maximum number of bytes of a line that Quote and Clip retain.
const maxQuoted = 80

// Quote returns line as a quoted string of printable ASCII for an error message. If line is longer than 80
// bytes, it is cut off, and "..." follows the closing quote.
func Quote(line []byte) string {
	if len(line) > maxQuoted {
		return strconv.QuoteToASCII(string(line[:maxQuoted])) + ellipsis
	}
	return strconv.QuoteToASCII(string(line))
}

// Clip returns the first 80 bytes of line, followed by "..." if line is longer. Quote returns the same text
// for the clipped line as for line.
func Clip(line []byte) string {
	if len(line) > maxQuoted {
		return string(line[:maxQuoted]) + ellipsis
	}
	return string(line)
}

// unprintable returns the index of the first byte outside 0x20..0x7e, or -1 if there is none. It checks eight
// bytes at a time because it is called for every line.
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

// badSpacing reports whether line has a leading, trailing or double space.
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

func dropCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}
