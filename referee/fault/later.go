package fault

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

// ArrivalNote returns the line about a late answer that the referee appends to the log of a bot. If came is true, the
// line says that the answer came at the time after, counted from the start of the turn. Otherwise it says that no
// answer came within this time.
func ArrivalNote(came bool, after time.Duration) string {
	if !came {
		return fmt.Sprintf("[no answer within %d ms either]", after.Milliseconds())
	}
	return fmt.Sprintf("[the answer came after %d ms]", after.Milliseconds())
}

var arrivalNote = regexp.MustCompile(`^\[(?:the answer came after ([0-9]+) ms|no answer within ([0-9]+) ms either)\]$`)

// ReadLog sets c.Log.Lines to the lines of log, which a bot wrote to its log in one game. If the last line comes from
// ArrivalNote, ReadLog leaves it out and sets c.Answer from it.
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
	c.Answer.Arrival = StillMissing
	if m[1] != "" {
		c.Answer.Arrival = Came
	}
	c.Answer.Took, _ = strconv.ParseInt(m[1]+m[2], 10, 64) // digits
}

// roundMilliseconds rounds a time to two significant digits: 428 becomes 430.
func roundMilliseconds(ms int64) int64 {
	unit := int64(math.Pow10(max(0, len(strconv.FormatInt(ms, 10))-2)))
	return (ms + unit/2) / unit * unit
}
