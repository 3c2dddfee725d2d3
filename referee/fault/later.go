package fault

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

// ArrivalNote returns the line by which the referee says at the end of a bot's log what became of an answer
// that was late: when it came, or that it did not come within the time that it was waited for.
func ArrivalNote(came bool, after time.Duration) string {
	if !came {
		return fmt.Sprintf("[no answer within %d ms either]", after.Milliseconds())
	}
	return fmt.Sprintf("[the answer came after %d ms]", after.Milliseconds())
}

var arrivalNote = regexp.MustCompile(`^\[(?:the answer came after ([0-9]+) ms|no answer within [0-9]+ ms either)\]$`)

// ReadLog takes the lines of the bot from its log of a game, and what LaterNote says behind them.
func (c *Circumstances) ReadLog(log []byte) {
	c.Log.Lines = Lines(log)
	if len(c.Log.Lines) == 0 {
		return
	}
	last := len(c.Log.Lines) - 1
	m := arrivalNote.FindStringSubmatch(c.Log.Lines[last])
	if m == nil {
		return
	}
	c.Log.Lines = c.Log.Lines[:last]
	if m[1] != "" {
		took, _ := strconv.ParseInt(m[1], 10, 64) // digits
		c.Answer = LateAnswer{Came, took}
	}
}

// roundMilliseconds rounds milliseconds as people say them: 428 is about 430.
func roundMilliseconds(ms int64) int64 {
	unit := int64(math.Pow10(max(0, len(strconv.FormatInt(ms, 10))-2)))
	return (ms + unit/2) / unit * unit
}
