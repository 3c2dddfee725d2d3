package stats

// Fingerprint is a hash of a game's bots, seats, first position, moves and result. Two games with the same
// Fingerprint are equal.
type Fingerprint [16]byte

// Repeats detects deals (shuffles or start positions) that give no new information because equal games were played
// before. The zero value has seen no games.
type Repeats struct {
	knownGames map[Fingerprint]bool
	// Distinct is the number of deals with at least one new game. InRow is the number of deals since the last deal
	// with a new game.
	Distinct, InRow int
}

// Add adds the games of the next deal and reports whether at least one of them is new.
func (r *Repeats) Add(games []Fingerprint) (distinct bool) {
	for _, g := range games {
		distinct = distinct || !r.knownGames[g]
	}
	if r.knownGames == nil {
		r.knownGames = map[Fingerprint]bool{}
	}
	for _, g := range games {
		r.knownGames[g] = true
	}
	if distinct {
		r.Distinct++
		r.InRow = 0
	} else {
		r.InRow++
	}
	return distinct
}

// patience is the minimum number of deals in a row without a new game before IsExhausted returns true.
const patience = 10

// IsExhausted reports whether hardly any new games will follow. It returns true after so many deals in a row
// without a new game that, with a probability of 95 %, one more distinct deal would have appeared among them if it
// existed. This assumes that it would be as likely as each of the distinct deals so far.
func (r *Repeats) IsExhausted() bool { return r.InRow >= max(patience, 3*(r.Distinct+1)) }
