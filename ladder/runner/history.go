package runner

import (
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
)

// A match is spoiled by a version that has faults in at least half of the games, or so many faults that the
// referee no longer starts it (referee.MaxFaults). A version is suspended
//
//   - if it spoiled its last two matches, and its first fault in each was that it did not start;
//   - if it spoiled its last three matches;
//   - if it spoiled five of its last ten matches.
//
// Rated matches of all ladders count, except those that ended early.
const (
	suspendUnstarted = 2
	suspendInARow    = 3
	suspendOfLast    = 5
	historyMatches   = 10 // number of last matches that are considered
)

// matchFaults sums up the faults of one version in one match.
type matchFaults struct {
	games       int
	faultyGames int // games with a fault of the version
	faults      int
	unstarted   bool // whether its first fault was that the bot did not start
}

// isSpoiled reports whether the version had too many faults in the match: in at least half of the games, or so many
// that the referee no longer started it.
func (m matchFaults) isSpoiled() bool {
	return m.faults >= referee.MaxFaults || m.faultyGames > 0 && 2*m.faultyGames >= m.games
}

// add adds a game of the match to m. code is the code of the version's first fault in the game, or "" if the version
// made no fault. faults is the number of the version's faults in the game. Games must be added in the order of
// deals.
func (m *matchFaults) add(code string, faults int) {
	m.games++
	if code == "" {
		return
	}
	if m.faults == 0 {
		m.unstarted = code == string(protocol.Startup)
	}
	m.faultyGames++
	m.faults += max(1, faults)
}

// suspendReason returns the reason why a version must be suspended, or an empty text if it need not be. history has
// the faults of the version in its matches, the last match first.
func suspendReason(history []matchFaults) (why phrase.Text) {
	count := func(n int, bad func(matchFaults) bool) (sum int) {
		for _, m := range history[:min(n, len(history))] {
			if bad(m) {
				sum++
			}
		}
		return sum
	}
	switch {
	case count(suspendUnstarted, func(m matchFaults) bool { return m.unstarted && m.isSpoiled() }) == suspendUnstarted:
		return phrase.New("it did not start in its last %d matches", suspendUnstarted)
	case count(suspendInARow, matchFaults.isSpoiled) == suspendInARow:
		return phrase.New("it had too many faults to finish each of its last %d matches", suspendInARow)
	case count(historyMatches, matchFaults.isSpoiled) >= suspendOfLast:
		return phrase.New("it had too many faults to finish %d of its last %d matches", count(historyMatches, matchFaults.isSpoiled), min(historyMatches, len(history)))
	}
	return why
}
