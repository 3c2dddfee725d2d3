package match

import (
	"bytes"
	"errors"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
)

// BotConn is the referee's end of the lines to and from one bot. Only one goroutine may use it. The errors of
// Send and Line are a fault.Reason if the bot is to blame; any other error is a failure of the referee.
type BotConn interface {
	// BeginTurn begins a turn for which the bot has the time left. It resumes a bot that is stopped between
	// its turns; Send resumes it, too, but in the bot's time.
	BeginTurn(now time.Time, left time.Duration) error
	// Send writes whole lines, and returns the number of bytes that it has written. If the bot does not read
	// them by the deadline, the bot is to blame.
	Send(lines []byte, deadline time.Time) (n int, err error)
	// Line reads the next line, without its LF, valid until the next call. at is when it was read. The error
	// is ErrLate if no line came by the deadline. With a deadline in the past, Line does not wait.
	Line(now, deadline time.Time) (line []byte, at time.Time, err error)
	// Rest returns the line that the bot has begun and not ended, valid until the next call of Line.
	Rest() []byte
	// Loss returns how much time other programs took from the bot since its turn or its process began.
	// answered says whether an answer has just been read.
	Loss(since, now time.Time, answered bool) fairclock.Loss
	// Memory returns the memory that all processes of the bot use, and its limit, in bytes. Both are 0 if
	// they are unknown.
	Memory() (used, limit int64)
	// EndTurn ends a turn: the count of output starts again at 0.
	EndTurn()
	// Stderr returns what the bot has written to stderr since the last call.
	Stderr() []byte
	// Close ends the bot and all its processes. If grace is positive, the bot may exit by itself within that
	// time.
	Close(grace time.Duration)
}

// ErrLate is the error of BotConn.Line when the deadline has passed without a line.
var ErrLate = errors.New("no line in time")

// maxSleep is the longest single sleep of the referee. After it the referee checks whether the match was canceled,
// and whether it slept for too long.
const maxSleep = 100 * time.Millisecond

// MaxLog is the largest number of bytes of a bot's stderr and comments that are kept for one game. Of more, the
// beginning and the end are kept.
const MaxLog = 256 << 10

// lineBuffer splits the output of a bot into lines, and enforces the limits of the protocol.
type lineBuffer struct {
	buf     [2 * protocol.MaxLine]byte
	r, w    int // buf[r:w] are the unread bytes
	scanEnd int // buf[r:scanEnd] has no LF
	count   int // bytes of lines returned since the last turn was answered
}

// room returns the space for more bytes. The caller then calls advance with the number of bytes that it has
// read. The space is never empty after next has found no line.
func (b *lineBuffer) room() []byte {
	if b.r > 0 {
		copy(b.buf[:], b.buf[b.r:b.w])
		b.w -= b.r
		b.scanEnd -= b.r
		b.r = 0
	}
	return b.buf[b.w:]
}

func (b *lineBuffer) advance(n int) { b.w += n }

// endTurn ends a turn: the count of output starts again at 0.
func (b *lineBuffer) endTurn() { b.count = 0 }

// next returns the next line; ok is false if there is no complete one. The result depends on the bytes alone, not on
// how they were split into reads.
func (b *lineBuffer) next() (line []byte, ok bool, err error) {
	if i := bytes.IndexByte(b.buf[b.scanEnd:b.w], '\n'); i >= 0 {
		end := b.scanEnd + i
		line = b.buf[b.r:end]
		b.count += end + 1 - b.r
		b.r, b.scanEnd = end+1, end+1
		return line, true, b.checkLimits(line, b.count)
	}
	b.scanEnd = b.w
	return nil, false, b.checkLimits(b.rest(), b.count+b.w-b.r)
}

// checkLimits returns the fault of a line, or of the beginning of a line, that breaks a limit. count is the
// number of bytes of the turn up to its end.
func (b *lineBuffer) checkLimits(line []byte, count int) error {
	const limit = protocol.MaxLine
	n := len(line)
	long := n > limit+1 || n == limit+1 && line[limit] != '\r'
	if long && count-n+limit+1 <= protocol.MaxOutput {
		return fault.LineReason(line, protocol.TooLong)
	}
	if count > protocol.MaxOutput {
		return fault.Reason{Kind: fault.TooMuchOutput, Limit: protocol.MaxOutput >> 10}
	}
	return nil
}

// rest returns the line that is not complete yet.
func (b *lineBuffer) rest() []byte { return b.buf[b.r:b.w] }
