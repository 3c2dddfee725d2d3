// Package matchmaking chooses the next match of a ladder: the most urgent version
// against opponents near in Elo and seldom met. The rule is published in
// docs/ratings.md, section "Who plays whom"; its constants are here.
//
// A Pool keeps a ladder in memory and chooses. It stores nothing and reads nothing itself: the
// caller tells it what changes, and passes the randomness.
package matchmaking

import "math"

const (
	// halfUrgent is the number of matches after which a version is half as urgent
	// as a newcomer.
	halfUrgent = 10
	// vague is by how many Elo an opponent counts as farther away whose Elo is
	// known as well as from one match, that is with the uncertainty 1 of package
	// rating; for others times the root of theirs.
	vague = 100
	// often is by how many Elo an opponent counts as farther away that was met as
	// often as the average one.
	often = 75
	// related is the same for a bot of the same owner.
	related = 400
	// chance is the end of the random Elo added to each opponent's distance.
	chance = 200
)

// Figures are the constants of the rule, for people; docs/ratings.md explains them. All but
// HalfUrgent, which is a number of matches, are Elo.
type Figures struct{ HalfUrgent, Vague, Often, Related, Chance int }

// Constants returns the constants of the rule.
func Constants() Figures { return Figures{halfUrgent, vague, often, related, chance} }

// Player is an active version on a ladder.
type Player struct {
	ID    int64
	Owner int64 // the person; 0 for a house bot
	Elo   float64
	// Uncertainty of the Elo as in package rating, 0 for the anchor.
	Uncertainty float64
	Matches     int // finished ones that moved its Elo
	Last        int // matches that the ladder had finished after its last one, or when it came
	Busy        int // matches that it is playing now
	// Remote says that the version plays only while it is connected: the caller leaves out
	// those that are not.
	Remote bool
	// House says that it is a house bot: it makes way for others.
	House bool
}

// seat is a player who is in the match, and whom it has met.
type seat struct {
	*Player
	met map[int64]int
	// meeting has those whom it meets beside, in matches that are not over.
	meeting []int64
}

// newness is the part of a player's urgency, from 1 downwards, that falls with its matches. The other
// part is the share of the ladder that has played since its last match. As newness is at most 1, whoever
// has waited for as many matches as there are players comes before everyone who plays or arrives after
// that: nobody waits for more than twice that many.
func newness(p Player) float64 { return halfUrgent / float64(halfUrgent+p.Matches+p.Busy) }

// vagueness returns by how many Elo a player counts as farther away for its uncertainty.
func vagueness(p Player) float64 { return vague * math.Sqrt(max(p.Uncertainty, 0)) }

// averageMet returns how often a player has met the average other.
func averageMet(p Player, slots, players int) float64 {
	return float64((p.Matches+p.Busy)*(slots-1)) / float64(players-1)
}

// reluctance returns by how many Elo a player counts as farther away for having met
// those seated, or for having the same owner.
func reluctance(seated []seat, p *Player, average float64) float64 {
	elos := 0.0
	for _, s := range seated {
		elos += often * float64(s.times(p.ID)) / max(average, 1e-9) / float64(len(seated))
		if s.Owner == p.Owner && s.Owner != 0 {
			elos += related
		}
	}
	return elos
}

// times returns how often a seated player has met another.
func (s *seat) times(other int64) int {
	n := s.met[other]
	for _, id := range s.meeting {
		if id == other {
			n++
		}
	}
	return n
}
