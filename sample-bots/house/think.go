package house

import (
	"strconv"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	// untimedThinkTime is how long a bot thinks about a turn without a time limit, as in a test.
	untimedThinkTime = 100 * time.Millisecond
	// bankMoves is the number of moves over which the time in the bank is spread.
	bankMoves = 25
	// minReserve is the minimum part of a move's time that is not used, because a busy machine may delay the
	// answer. A third of the time is reserved if that is more.
	minReserve = 100 * time.Millisecond
	// initialLateness is the assumed lateness of the first search. It must get its memory from the system,
	// which may be busy.
	initialLateness = 50 * time.Millisecond
)

// limits are the limits that a bot's options set for a search.
type limits struct {
	time     time.Duration // 0 means as long as the clock allows
	nodes    uint64        // 0 means no limit
	lateness time.Duration // how long after their deadlines recent searches have ended, at most; decreases slowly
}

// budget returns the budget of a search for a turn. If nodes is set and the turn has no clock, time does not limit
// the search. The time runs from the arrival of the turn, because a new game may first have to be prepared.
func (l *limits) budget(t *protocol.Turn) search.Budget {
	b := search.Budget{Nodes: l.nodes}
	think := l.time
	switch {
	case t.Time > 0 || t.Game.Settings.Int("bank") > 0: // a bank may be used up
		if given := thinkTime(t, l.lateness); think == 0 || given < think {
			think = given
		}
	case think == 0 && l.nodes > 0:
		return b
	case think == 0:
		think = untimedThinkTime
	}
	from := t.ReceivedAt
	if from.IsZero() {
		from = time.Now()
	}
	b.Deadline = from.Add(think)
	return b
}

// recordLateness records how late a search has ended, so that the next one reserves more time.
func (l *limits) recordLateness(b search.Budget) {
	l.lateness -= l.lateness / 16
	if !b.Deadline.IsZero() {
		l.lateness = max(l.lateness, time.Since(b.Deadline))
	}
}

// thinkTime returns how much of a turn's time a bot may use. late is how late earlier searches have ended.
func thinkTime(t *protocol.Turn, late time.Duration) time.Duration {
	use, reserve := t.Time, max(t.Time/3, minReserve)
	if bank := t.Game.Settings.Int("bank"); bank > 0 {
		inc := time.Duration(t.Game.Settings.Int("inc")) * time.Millisecond
		use, reserve = min(t.Time/bankMoves+inc*3/4, t.Time/2), 0
	}
	return max(use-reserve-2*late, use/8)
}

// appendInfo appends key=value and, if necessary, a space before it.
func appendInfo(dst []byte, key string, value int64) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	return strconv.AppendInt(append(append(dst, key...), '='), value, 10)
}

// appendScore appends score=, with two decimals.
func appendScore(dst []byte, score float64) []byte {
	return strconv.AppendFloat(append(dst, "score="...), score, 'f', 2, 64)
}

// appendFound appends the result of a Monte Carlo tree search from position s.
func appendFound(info []byte, s rules.State, found search.Result) []byte {
	info = appendScore(info, 2*found.Value-1)
	info = appendInfo(info, "visits", int64(found.Visits))
	info = appendInfo(info, "nodes", int64(found.Nodes))
	return appendLine(info, s, found.Line)
}

// appendLine appends the expected moves from position s, as in pv=1-2,3-4.
func appendLine(dst []byte, s rules.State, line []rules.Move) []byte {
	for i, m := range line {
		if i == 0 {
			dst = append(dst, " pv="...)
		} else {
			dst = append(dst, ',')
		}
		dst = s.MoveText(dst, m)
	}
	return dst
}
