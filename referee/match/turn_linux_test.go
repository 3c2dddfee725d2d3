package match

import (
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/cores"
)

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
