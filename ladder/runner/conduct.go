package runner

import (
	"fmt"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
)

// The rule of benching. A version has spoiled a match when it had so many faults
// in it that the referee did not start it any more (referee.MaxFaults), or faults
// in half of its games. It is benched
//
//   - when it did not start in two of its matches, one after the other;
//   - when it spoiled three of its matches, one after the other;
//   - when it spoiled five of its last ten.
//
// Matches of all ladders count, and those that are not rated do not.
const (
	benchUnstarted = 2
	benchInARow    = 3
	benchOfLast    = 5
	conductMatches = 10 // that are looked back at
)

// conduct is how a version behaved in one match.
type conduct struct {
	games     int
	faulty    int // games with a fault of its own
	faults    int
	unstarted bool // its first fault was that it did not start
}

// spoiled tells whether a match says nothing but that the version fails.
func (c conduct) spoiled() bool {
	return c.faults >= referee.MaxFaults || c.faulty > 0 && 2*c.faulty >= c.games
}

// add takes a game: the code of the version's first fault in it, "" without, and
// the number of its faults. Games come in the order of deals.
func (c *conduct) add(code string, faults int) {
	c.games++
	if code == "" {
		return
	}
	if c.faults == 0 {
		c.unstarted = code == string(protocol.Startup)
	}
	c.faulty++
	c.faults += max(1, faults)
}

// verdict tells why a version is benched after its matches, the last one first;
// "" when it is not.
func verdict(matches []conduct) string {
	count := func(n int, bad func(conduct) bool) (sum int) {
		for _, c := range matches[:min(n, len(matches))] {
			if bad(c) {
				sum++
			}
		}
		return sum
	}
	switch {
	case count(benchUnstarted, func(c conduct) bool { return c.unstarted && c.spoiled() }) == benchUnstarted:
		return fmt.Sprintf("it did not start in its last %d matches", benchUnstarted)
	case count(benchInARow, conduct.spoiled) == benchInARow:
		return fmt.Sprintf("it had too many faults to finish each of its last %d matches", benchInARow)
	case count(conductMatches, conduct.spoiled) >= benchOfLast:
		return fmt.Sprintf("it had too many faults to finish %d of its last %d matches", count(conductMatches, conduct.spoiled), min(conductMatches, len(matches)))
	}
	return ""
}
