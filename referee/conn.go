package referee

import (
	"errors"
	"time"

	"github.com/timba-arena/timba/protocol"
)

// conn is the referee's end of the lines to and from one bot. It is used by one
// goroutine. The errors of Send and Line are *Fault when the bot is to blame;
// any other error is the referee's own failure.
type conn interface {
	// Send writes whole lines. A bot that does not read them by the deadline is
	// to blame.
	Send(lines []byte, deadline time.Time) error
	// Line reads the next line, without its LF, valid until the next call; at is
	// when it was read. errLate: there was none by the deadline. A deadline in
	// the past asks for what is there already.
	Line(now, deadline time.Time) (line []byte, at time.Time, err error)
	// Answered tells that a turn is over, from where output counts anew.
	Answered()
	// Stderr takes what the bot has written on stderr since the last call.
	Stderr() []byte
	// Close ends the bot: with a grace it may go by itself first. Nothing of it
	// is left afterwards.
	Close(grace time.Duration)
}

// errLate is why Line has no line.
var errLate = errors.New("no line in time")

// maxStderr is how much of a bot's stderr is kept for each game.
const maxStderr = 256 << 10

const stderrCut = "\n[the rest of stderr is not kept: 256 KiB a game]\n"

// keepStderr appends what fits.
func keepStderr(log, data []byte) []byte {
	if len(log) >= maxStderr {
		return log
	}
	if len(log)+len(data) <= maxStderr {
		return append(log, data...)
	}
	return append(append(log, data[:maxStderr-len(log)]...), stderrCut...)
}

// lineBuffer cuts what a bot writes into lines and holds it to the protocol's
// limits.
type lineBuffer struct {
	buf     [2 * protocol.MaxLine]byte
	r, w    int // unread bytes are buf[r:w]
	scanned int // buf[r:scanned] has no LF
	count   int // bytes since the last turn was answered
}

// room is where to read more bytes to; added tells how many there were.
func (b *lineBuffer) room() []byte {
	if b.r > 0 {
		copy(b.buf[:], b.buf[b.r:b.w])
		b.w -= b.r
		b.scanned -= b.r
		b.r = 0
	}
	return b.buf[b.w:]
}

func (b *lineBuffer) added(n int) error {
	b.w += n
	b.count += n
	if b.count > protocol.MaxOutput {
		return faultf(protocol.Output, "more than %d KiB on stdout between two turns: write logs to stderr", protocol.MaxOutput>>10)
	}
	return nil
}

// next cuts off a line; ok tells whether there was a whole one.
func (b *lineBuffer) next() (line []byte, ok bool, err error) {
	for i := b.scanned; i < b.w; i++ {
		if b.buf[i] == '\n' {
			line = b.buf[b.r:i]
			b.r, b.scanned = i+1, i+1
			if len(line) > protocol.MaxLine {
				return nil, false, tooLong(line)
			}
			return line, true, nil
		}
	}
	b.scanned = b.w
	if b.w-b.r > protocol.MaxLine+1 { // one more for a CR
		return nil, false, tooLong(b.buf[b.r:b.w])
	}
	return nil, false, nil
}

// rest is an unfinished line.
func (b *lineBuffer) rest() []byte { return b.buf[b.r:b.w] }

func tooLong(line []byte) *Fault {
	return faultf(protocol.Garbled, "%s is longer than %d bytes: end every line with LF and write logs to stderr", protocol.Quote(line), protocol.MaxLine)
}
