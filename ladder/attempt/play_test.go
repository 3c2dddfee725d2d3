package attempt

import (
	"errors"
	"testing"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
)

// A house bot that is late, or disqualified for that, loses its game. Any other fault of a house bot is a
// failure of the attempt.
func TestHouseLate(t *testing.T) {
	t.Parallel()
	for kind, fails := range map[fault.Kind]bool{
		fault.Late: false, fault.LateBank: false, fault.NotReading: false, fault.NoReady: false, fault.Disqualified: false,
		fault.Exited: true, fault.IllegalMove: true, fault.NotStarted: true,
	} {
		p := &run{Job: Job{Bots: []Entrant{{Name: "mine"}, {Version: 1, Name: "@greedy", House: "@greedy"}}}}
		g := &referee.GameResult{Bots: []int{0, 1}}
		g.Seats = make([]referee.ReplaySeat, 2)
		f := fault.New(0, 0, fault.Reason{Kind: kind})
		f.Seat = 1
		g.Faults = []referee.Fault{f}
		failure, failed := errors.AsType[*Failure](p.addGame(g))
		if failed != fails || failed && failure.Kind != FailedHouse {
			t.Errorf("%s: %v, want a failure: %v", kind, failure, fails)
		}
	}
}
