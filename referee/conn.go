package referee

import (
	"bytes"
	"errors"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/sandbox"
)

// conn is the referee's end of the lines to and from one bot. It is used by one
// goroutine. The errors of Send and Line are *Fault when the bot is to blame;
// any other error is the referee's own failure.
type conn interface {
	// Wake lets a bot run that is stopped while it is not its turn; Send does so by
	// itself, in the bot's time.
	Wake() error
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
	// Usage is what the bot has used so far, in all its processes; after Close of
	// all its life. Nothing where that is not known.
	Usage() sandbox.Usage
	// Close ends the bot: with a grace it may go by itself first. Nothing of it
	// is left afterwards.
	Close(grace time.Duration)
}

// errLate is why Line has no line.
var errLate = errors.New("no line in time")

// MaxLog is how many bytes of a seat's stderr and comments are kept of a game; a
// note of stderrCut follows where there were more.
const MaxLog = 256 << 10

const stderrCut = "\n[the rest of stderr is not kept: 256 KiB a game]\n"

// keepStderr appends what fits.
func keepStderr(log, data []byte) []byte {
	if len(log) > MaxLog { // the note is there
		return log
	}
	if len(log)+len(data) <= MaxLog {
		return append(log, data...)
	}
	return append(append(log, data[:MaxLog-len(log)]...), stderrCut...)
}

// lineBuffer cuts what a bot writes into lines and holds it to the protocol's
// limits.
type lineBuffer struct {
	buf     [2 * protocol.MaxLine]byte
	r, w    int // unread bytes are buf[r:w]
	scanned int // buf[r:scanned] has no LF
	count   int // bytes of the lines cut off since the last turn was answered
}

// room is where to read more bytes to; added tells how many there were. There
// always is some while next has no line.
func (b *lineBuffer) room() []byte {
	if b.r > 0 {
		copy(b.buf[:], b.buf[b.r:b.w])
		b.w -= b.r
		b.scanned -= b.r
		b.r = 0
	}
	return b.buf[b.w:]
}

func (b *lineBuffer) added(n int) { b.w += n }

// answered tells that a turn is over.
func (b *lineBuffer) answered() { b.count = 0 }

// next cuts off a line; ok tells whether there was a whole one. What it gives
// depends on the bytes alone, not on the pieces in which they came.
func (b *lineBuffer) next() (line []byte, ok bool, err error) {
	if i := bytes.IndexByte(b.buf[b.scanned:b.w], '\n'); i >= 0 {
		end := b.scanned + i
		line = b.buf[b.r:end]
		b.count += end + 1 - b.r
		b.r, b.scanned = end+1, end+1
		return line, true, b.judge(line, b.count)
	}
	b.scanned = b.w
	return nil, false, b.judge(b.rest(), b.count+b.w-b.r)
}

// judge holds a line, or what there is of one, to the limits, whichever it breaks
// first; count is the bytes up to its end.
func (b *lineBuffer) judge(line []byte, count int) error {
	const limit = protocol.MaxLine
	n := len(line)
	long := n > limit+1 || n == limit+1 && line[limit] != '\r'
	if long && count-n+limit+1 <= protocol.MaxOutput {
		return tooLong(line)
	}
	if count > protocol.MaxOutput {
		return faultf(protocol.Output, "more than %d KiB on stdout between two turns: write logs to stderr", protocol.MaxOutput>>10)
	}
	return nil
}

// rest is an unfinished line.
func (b *lineBuffer) rest() []byte { return b.buf[b.r:b.w] }

func tooLong(line []byte) *Fault {
	return faultf(protocol.Garbled, "%s is longer than %d bytes: end every line with LF and write logs to stderr", protocol.Quote(line), protocol.MaxLine)
}
