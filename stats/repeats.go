package stats

// Fingerprint is what the games have in common that tell the same: same bots, same
// seats, same start, same moves, same result.
type Fingerprint [16]byte

// Repeats finds the deals that tell nothing new, because each of their games was
// played before. Its zero value knows no games.
type Repeats struct {
	knownGames map[Fingerprint]bool
	// Distinct counts the deals with a new game, Row the deals without one that
	// came after the last of them.
	Distinct, InRow int
}

// Add takes in the next deal, all its rotations, and reports whether any of its
// games is new.
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

// patience is the least number of repeated deals in a row after which no new ones
// are expected.
const patience = 10

// IsExhausted reports whether there are hardly any new deals to come: so many in a
// row were repeated that one more deal, as likely as each of those seen, would have
// come with a probability of 95 %.
func (r *Repeats) IsExhausted() bool { return r.InRow >= max(patience, 3*(r.Distinct+1)) }
