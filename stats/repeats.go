package stats

// Fingerprint identifies the content of a game: its bots, seats, start, moves and result. Games with the same
// Fingerprint are the same.
type Fingerprint [16]byte

// Repeats detects deals without new information, because each of their games was played before. The zero
// value has seen no games.
type Repeats struct {
	knownGames map[Fingerprint]bool
	// Distinct counts the deals with at least one new game. InRow counts the deals without a new game since
	// the last of those.
	Distinct, InRow int
}

// Add adds the games of the next deal, in all its rotations, and reports whether any of them is new.
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

// patience is the minimum number of repeated deals in a row after which no new ones are expected.
const patience = 10

// IsExhausted reports whether hardly any new deals will follow. It returns true when so many deals in a row
// were repeated that one more deal, if it existed and were as likely as each deal seen, would have appeared
// among them with a probability of 95 %.
func (r *Repeats) IsExhausted() bool { return r.InRow >= max(patience, 3*(r.Distinct+1)) }
