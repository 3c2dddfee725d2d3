package match

import (
	"testing"
	"time"

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
