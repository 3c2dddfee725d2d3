package match

import (
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/cores"
)

// Clocks: an answer that is there when the referee wakes up late from the last wait of a turn is in time, as it
// may have come in time; after a wait that is as long as those of an idle machine it is late.
func TestClocksReaderLate(t *testing.T) {
	const given = 30 * time.Millisecond
	for took, want := range map[time.Duration]verdict{
		given + 900*time.Microsecond:  blamed,
		given + 1100*time.Microsecond: inTime,
		given + 9613*time.Microsecond: inTime,
		34 * given:                    inTime,
	} {
		since := time.Now()
		var turn turnTime
		turn.slept(since, since.Add(took), given)
		lost := cores.Lost{Known: turn.overslept, Most: turn.overslept}
		if got, credit, _ := (answerTime{since, since.Add(given), leastCredit}).judge(since.Add(took), lost, true); got != want {
			t.Errorf("%s after the question: %d with %s of credit, want %d", took, got, credit, want)
		}
	}
}

// Clocks: what a bot has lost while the referee was away is not known, and all of it counts: the wait from which it
// came back too late may be the shorter part of that.
func TestClocksReaderAway(t *testing.T) {
	watch := cores.Open(cores.Any, cores.All(), new(cores.Players))
	defer watch.Close()
	c := kit.Get[Conn](t)(start(t.Context(), Bot{Name: "cat", Command: []string{"cat"}}, watch))
	defer c.Close(0)
	for turn, least := range map[time.Duration]time.Duration{2 * firstReading: 0, 10 * time.Second: 9 * time.Second} {
		since := time.Now()
		kit.Must(t, c.Begin(since, time.Second))
		lost := c.Lost(since, since.Add(turn), false)
		if lost.Known < least || least == 0 && lost.Known > 0 || lost.Most != lost.Known {
			t.Errorf("%v after the question, without a reading: %+v, want %v at least", turn, lost, least)
		}
	}
}
