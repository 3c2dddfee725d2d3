package house

import (
	"strconv"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	// untimedThinkTime is how long a bot thinks about a move if neither the clock nor its options limit the search.
	untimedThinkTime = 100 * time.Millisecond
	// bankMoves is the divisor for a clock with a bank (time for all remaining moves): a bot uses 1/25 of the bank
	// for a move.
	bankMoves = 25
	// minReserve is the least part of a turn's time that a bot leaves unused, because a busy machine may delay the
	// answer. If a third of the time is more, it leaves a third.
	minReserve = 100 * time.Millisecond
	// initialLateness is the assumed delay with which a bot's first search ends after its deadline. The first
	// search allocates memory, which may take long on a busy machine.
	initialLateness = 50 * time.Millisecond
)

// limits has the limits of a search that the options of a bot set, and how late recent searches have ended.
type limits struct {
	time     time.Duration // for a move; 0 means as long as the clock allows
	nodes    uint64        // for a move; 0 means no limit
	lateness time.Duration // maximum delay of recent searches after their deadlines; decreases by 1/16 with each search
}

// budget returns the deadline and the node limit of a search for turn t. The time counts from the arrival of t,
// because preparing a new game may take some of it. If t has no clock and the options limit only nodes, there is no
// deadline.
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

// recordLateness must be called at the end of a search with budget b. It measures how long after the deadline the
// search has ended, so that later searches end earlier.
func (l *limits) recordLateness(b search.Budget) {
	l.lateness -= l.lateness / 16
	if !b.Deadline.IsZero() {
		l.lateness = max(l.lateness, time.Since(b.Deadline))
	}
}

// thinkTime returns how much of the time of turn t a bot uses for its search. late is the time by which the search
// is expected to miss its deadline; twice this time is left unused.
func thinkTime(t *protocol.Turn, late time.Duration) time.Duration {
	use, reserve := t.Time, max(t.Time/3, minReserve)
	if bank := t.Game.Settings.Int("bank"); bank > 0 {
		inc := time.Duration(t.Game.Settings.Int("inc")) * time.Millisecond
		use, reserve = min(t.Time/bankMoves+inc*3/4, t.Time/2), 0
	}
	return max(use-reserve-2*late, use/8)
}

func appendInfo(dst []byte, key string, value int64) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	return strconv.AppendInt(append(append(dst, key...), '='), value, 10)
}

func appendScore(dst []byte, score float64) []byte {
	return strconv.AppendFloat(append(dst, "score="...), score, 'f', 2, 64)
}

// appendFound appends the result of a Monte Carlo tree search to info, the text that the bot reports: the score
// from -1 to 1, visits, nodes and the expected moves. s is the position in which the search began.
func appendFound(info []byte, s rules.State, found search.Result) []byte {
	info = appendScore(info, 2*found.Value-1)
	info = appendInfo(info, "visits", int64(found.Visits))
	info = appendInfo(info, "nodes", int64(found.Nodes))
	return appendLine(info, s, found.Line)
}

// appendLine appends the moves of line in a form such as " pv=1-2,3-4". They are the moves that a search expects,
// and begin in s. If line is empty, it appends nothing.
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
