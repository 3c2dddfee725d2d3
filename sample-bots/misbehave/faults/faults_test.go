package faults

import (
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/protocol"
)

// TestEveryFaultIsMade checks that each listed fault has code for its moment. Packages referee and check test
// its effect.
func TestEveryFaultIsMade(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All {
		if seen[f.Name] {
			t.Errorf("%s is listed twice", f.Name)
		}
		seen[f.Name] = true
		start, turn := greetingFaults[f.Name] != nil, turnFaults[f.Name] != nil
		if start != (f.Moment == AtGreeting) || turn != (f.Moment == AtOneTurn || f.Moment == FromTurn) {
			t.Errorf("%s is listed for another moment than it is made", f.Name)
		}
		if f.Help == "" {
			t.Errorf("%s has no help", f.Name)
		}
	}
	for name := range greetingFaults {
		if !seen[name] {
			t.Errorf("%s is not listed", name)
		}
	}
	for name := range turnFaults {
		if !seen[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}

func TestNotListed(t *testing.T) {
	var all []string
	for i := range 48 {
		all = append(all, fmt.Sprintf("%d%c", i/4%12+1, "oceb"[i%4]))
	}
	for _, list := range []string{"1o", "12c", "1o 1c 1e 1b 2o", strings.Join(all, " "), strings.Join(all, " ") + " 0 1"} {
		if m := illegalMove(protocol.Words(list)); protocol.Words(list).Has([]byte(m)) {
			t.Errorf("%s is in %s", m, list)
		}
	}
}
