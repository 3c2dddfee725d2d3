package house

import (
	"strconv"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	// untimedThinkTime is how long a bot thinks whose turn has no time limit, as in a test.
	untimedThinkTime = 100 * time.Millisecond
	// bankMoves is the number of moves over which the bank is spread.
	bankMoves = 25
	// minReserve is the least time of a move that is kept for delays of a busy machine; a third of the move's time is
	// kept if that is more.
	minReserve = 100 * time.Millisecond
	// initialLateness is how late the first search is assumed to end: it gets its memory from a system that may be busy.
	initialLateness = 50 * time.Millisecond
)

// limits are what the options of a bot say about the length of a search.
type limits struct {
	time     time.Duration // 0 for the clock alone
	nodes    uint64        // 0 for no limit
	lateness time.Duration // how much later than its deadline a search has ended: the worst of the last moves
}

// budget returns the bounds of a search for an answer to a turn. With nodes set and a turn
// without a clock, time does not bound it. The time runs since the turn came: a new game may have
// to be prepared first.
func (l *limits) budget(t *protocol.Turn) search.Budget {
	b := search.Budget{Nodes: l.nodes}
	think := l.time
	switch {
	case t.Time > 0 || t.Game.Settings.Int("bank") > 0: // of a bank nothing may be left
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

// recordLateness notes how late a search with a budget has ended, so that the next one keeps more in reserve.
func (l *limits) recordLateness(b search.Budget) {
	l.lateness -= l.lateness / 16
	if !b.Deadline.IsZero() {
		l.lateness = max(l.lateness, time.Since(b.Deadline))
	}
}

// thinkTime returns the part of a turn's time that a bot may use, when the machine has made it so late
// before.
func thinkTime(t *protocol.Turn, late time.Duration) time.Duration {
	use, reserve := t.Time, max(t.Time/3, minReserve)
	if bank := t.Game.Settings.Int("bank"); bank > 0 {
		inc := time.Duration(t.Game.Settings.Int("inc")) * time.Millisecond
		use, reserve = min(t.Time/bankMoves+inc*3/4, t.Time/2), 0
	}
	return max(use-reserve-2*late, use/8)
}

// appendInfo appends key=value.
func appendInfo(dst []byte, key string, value int64) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	return strconv.AppendInt(append(append(dst, key...), '='), value, 10)
}

// appendScore appends the score with two decimals.
func appendScore(dst []byte, score float64) []byte {
	return strconv.AppendFloat(append(dst, "score="...), score, 'f', 2, 64)
}

// appendFound appends what a Monte Carlo tree search has found in a position.
func appendFound(info []byte, s rules.State, found search.Result) []byte {
	info = appendScore(info, 2*found.Value-1)
	info = appendInfo(info, "visits", int64(found.Visits))
	info = appendInfo(info, "nodes", int64(found.Nodes))
	return appendLine(info, s, found.Line)
}

// appendLine appends the expected moves, from a position: pv=1-2,3-4.
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
