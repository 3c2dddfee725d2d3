package match

import (
	"bytes"
	"errors"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
)

// BotConn carries the lines between the referee and one bot. Only one goroutine may use it. If an error of Send or
// Line is the bot's fault, it is a fault.Reason. Any other error is a failure of the referee.
type BotConn interface {
	// BeginTurn starts the time measurement of a turn. left is the time on the bot's clock. Before it starts the
	// measurement, BeginTurn resumes a bot that was stopped between its turns. Send also resumes the bot, but that
	// would cost the bot time.
	BeginTurn(now time.Time, left time.Duration) error
	// Send writes whole lines, and returns the number of bytes that it has written. If the bot does not read the lines
	// by the deadline, the error is a fault.Reason.
	Send(lines []byte, deadline time.Time) (n int, err error)
	// Line reads the next line of the bot, without its LF. The line is valid until the next call. at is when it was
	// read, and now is the present time. The error is ErrLate if no line came by the deadline. If the deadline has
	// passed already, Line does not wait.
	Line(now, deadline time.Time) (line []byte, at time.Time, err error)
	// Rest returns the output of the bot after its last LF, which is the beginning of an unfinished line. The result
	// is valid until the next call of Line.
	Rest() []byte
	// Loss returns how much time other programs took from the bot until now. since is when its turn or its process
	// began. answered says whether the bot's answer has just been read.
	Loss(since, now time.Time, answered bool) fairclock.Loss
	// Memory returns the memory that all processes of the bot use, and its limit, in bytes. Both are 0 if
	// they are unknown.
	Memory() (used, limit int64)
	// EndTurn ends a turn. The bot's later output counts toward the output limit of the next turn.
	EndTurn()
	// Stderr returns what the bot has written to stderr since the last call.
	Stderr() []byte
	// Close ends the bot and all its processes. If grace is positive, the bot may exit by itself within that time.
	Close(grace time.Duration)
}

// ErrLate is the error of BotConn.Line when the deadline has passed without a line.
var ErrLate = errors.New("no line in time")

// maxSleep is the longest time for which the referee sleeps at once while it waits for a bot. After each sleep it
// checks whether the match was canceled, and whether it slept longer than intended.
const maxSleep = 100 * time.Millisecond

// MaxLog is the largest number of bytes of a bot's stderr and comments that are stored for one game. If a bot
// writes more, the middle is left out.
const MaxLog = 256 << 10

// lineBuffer splits the output of a bot into lines, and enforces the limits of the protocol.
type lineBuffer struct {
	buf     [2 * protocol.MaxLine]byte
	r, w    int // buf[r:w] are the unread bytes
	scanEnd int // buf[r:scanEnd] has no LF
	count   int // bytes of the current turn: those of the lines that next has returned
}

// room returns the free part of the buffer. The caller reads output of the bot into it and must then call advance
// with the number of bytes read. If next has returned ok = false, the free part is not empty.
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

// endTurn ends a turn: it sets the number of output bytes to 0. That number is limited in each turn.
func (b *lineBuffer) endTurn() { b.count = 0 }

// next returns the next line of the buffer, without its LF. ok is false if the buffer has no complete line. The error
// is a fault.Reason that says which limit the bot's output exceeds. It does not depend on the pieces in which the
// output was read.
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

// checkLimits returns a fault.Reason if a line is too long, or if the bot has written too much in this turn. line may
// be unfinished. count is the number of bytes that the bot has written in this turn, including this line.
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

func (b *lineBuffer) rest() []byte { return b.buf[b.r:b.w] }
