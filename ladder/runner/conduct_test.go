package runner

import "testing"

// docs/operating.md, "Benching".
func TestVerdict(t *testing.T) {
	good := conduct{games: 20}
	once := conduct{games: 20, faulty: 1, faults: 1}
	bad := conduct{games: 20, faulty: 20, faults: 20}
	dead := conduct{games: 20, faulty: 20, faults: 20, unstarted: true}
	tests := []struct {
		name    string
		matches []conduct // the last one first
		benched bool
	}{
		{"nothing yet", nil, false},
		{"good", []conduct{good, good, good}, false},
		{"a fault in every match", []conduct{once, once, once, once, once, once, once, once, once, once}, false},
		{"one match that it did not start in", []conduct{dead, good}, false},
		{"two of them", []conduct{dead, dead}, true},
		{"two of them, with one between", []conduct{dead, good, dead}, false},
		{"two spoiled", []conduct{bad, bad, good}, false},
		{"two spoiled and nothing before", []conduct{bad, bad}, false},
		{"three spoiled", []conduct{bad, bad, bad}, true},
		{"three spoiled and one good since", []conduct{good, bad, bad, bad}, false},
		{"four of ten", []conduct{bad, good, bad, good, bad, good, bad, good, good, good}, false},
		{"five of ten", []conduct{bad, good, bad, good, bad, good, bad, good, good, bad}, true},
		{"five of nine", []conduct{bad, good, bad, good, bad, good, bad, good, bad}, true},
		{"the fifth is too long ago", []conduct{bad, good, bad, good, bad, good, bad, good, good, good, bad}, false},
		{"not started and spoiled are not the same", []conduct{dead, bad}, false},
		{"two games of two with one fault each", []conduct{{games: 2, faulty: 1, faults: 1}, {games: 2, faulty: 1, faults: 1}, {games: 2, faulty: 1, faults: 1}}, true},
	}
	for _, test := range tests {
		if why := verdict(test.matches); (why != "") != test.benched {
			t.Errorf("%s: %q, want benched %t", test.name, why, test.benched)
		}
	}
}

// The first fault of a match says whether the version started: those after it
// may be games that it was out of, which have the same code.
func TestConduct(t *testing.T) {
	tests := []struct {
		name    string
		codes   []string
		want    conduct
		spoiled bool
	}{
		{"no fault", []string{"", "", ""}, conduct{games: 3}, false},
		{"never started", []string{"startup", "startup"}, conduct{2, 2, 2, true}, true},
		{"out after three faults", []string{"", "timeout", "timeout", "timeout", "startup", "startup"}, conduct{6, 5, 5, false}, true},
		{"three of many games", []string{"", "", "", "", "exit", "exit", "exit", "", "", ""}, conduct{10, 3, 3, false}, true},
		{"two of five games", []string{"", "exit", "", "exit", ""}, conduct{5, 2, 2, false}, false},
		{"one of two games", []string{"illegal", ""}, conduct{2, 1, 1, false}, true},
	}
	for _, test := range tests {
		var c conduct
		for _, code := range test.codes {
			c.add(code, 0)
		}
		if c != test.want || c.spoiled() != test.spoiled {
			t.Errorf("%s: %+v, spoiled %t; want %+v, %t", test.name, c, c.spoiled(), test.want, test.spoiled)
		}
	}
}
