package submission

import (
	"errors"
	"testing"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
)

// A house bot that is late costs a submission nothing.
func TestHouseLate(t *testing.T) {
	t.Parallel()
	for kind, fails := range map[fault.Kind]bool{fault.Late: false, fault.NoReady: false, fault.Exited: true} {
		g := &referee.Game{Bots: []int{0, 1}}
		f := *fault.New(fault.Reason{Kind: kind})
		f.Seat = 1
		g.Faults = []referee.Fault{f}
		if err := new(submission).firstFault(trialMatch{name: "brisca"}, g, &transcript{}); errors.Is(err, errHouse) != fails || !fails && err != nil {
			t.Errorf("%s: %v, want a failure: %v", kind, err, fails)
		}
	}
}
