package runner

import "testing"

// docs/competing.md, "Your bots".
func TestSuspendReason(t *testing.T) {
	t.Parallel()
	good := matchFaults{games: 20}
	once := matchFaults{games: 20, faultyGames: 1, faults: 1}
	bad := matchFaults{games: 20, faultyGames: 20, faults: 20}
	dead := matchFaults{games: 20, faultyGames: 20, faults: 20, unstarted: true}
	tests := []struct {
		name      string
		matches   []matchFaults // the last one first
		suspended bool
	}{
		{"nothing yet", nil, false},
		{"good", []matchFaults{good, good, good}, false},
		{"a fault in every match", []matchFaults{once, once, once, once, once, once, once, once, once, once}, false},
		{"one match that it did not start in", []matchFaults{dead, good}, false},
		{"two of them", []matchFaults{dead, dead}, true},
		{"two of them, with one between", []matchFaults{dead, good, dead}, false},
		{"two spoiled", []matchFaults{bad, bad, good}, false},
		{"two spoiled and nothing before", []matchFaults{bad, bad}, false},
		{"three spoiled", []matchFaults{bad, bad, bad}, true},
		{"three spoiled and one good since", []matchFaults{good, bad, bad, bad}, false},
		{"four of ten", []matchFaults{bad, good, bad, good, bad, good, bad, good, good, good}, false},
		{"five of ten", []matchFaults{bad, good, bad, good, bad, good, bad, good, good, bad}, true},
		{"five of nine", []matchFaults{bad, good, bad, good, bad, good, bad, good, bad}, true},
		{"the fifth is too long ago", []matchFaults{bad, good, bad, good, bad, good, bad, good, good, good, bad}, false},
		{"not started and spoiled are not the same", []matchFaults{dead, bad}, false},
		{"two games of two with one fault each", []matchFaults{{games: 2, faultyGames: 1, faults: 1}, {games: 2, faultyGames: 1, faults: 1}, {games: 2, faultyGames: 1, faults: 1}}, true},
	}
	for _, test := range tests {
		if why := suspendReason(test.matches); (!why.IsZero()) != test.suspended {
			t.Errorf("%s: %q, want suspended %t", test.name, why, test.suspended)
		}
	}
}

// The first fault of a match says whether the version started: those after it
// may be games that it was out of, which have the same code.
func TestMatchFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		codes   []string
		want    matchFaults
		spoiled bool
	}{
		{"no fault", []string{"", "", ""}, matchFaults{games: 3}, false},
		{"never started", []string{"startup", "startup"}, matchFaults{2, 2, 2, true}, true},
		{"out after three faults", []string{"", "timeout", "timeout", "timeout", "startup", "startup"}, matchFaults{6, 5, 5, false}, true},
		{"three of many games", []string{"", "", "", "", "exit", "exit", "exit", "", "", ""}, matchFaults{10, 3, 3, false}, true},
		{"two of five games", []string{"", "exit", "", "exit", ""}, matchFaults{5, 2, 2, false}, false},
		{"one of two games", []string{"illegal", ""}, matchFaults{2, 1, 1, false}, true},
	}
	for _, test := range tests {
		var c matchFaults
		for _, code := range test.codes {
			c.add(code, 0)
		}
		if c != test.want || c.isSpoiled() != test.spoiled {
			t.Errorf("%s: %+v, spoiled %t; want %+v, %t", test.name, c, c.isSpoiled(), test.want, test.spoiled)
		}
	}
}
