// Package matchmaking chooses who plays next on a ladder: who has the most to
// tell, against opponents near in Elo and seldom met. The rule is published in
// docs/ladder.md, section "Who plays whom"; its constants are here.
//
// It is pure: the caller brings the state of the ladder, matches that are being
// played included, and the randomness. A choice takes time proportional to the
// number of players.
package matchmaking

import (
	"math"
	"math/rand/v2"
)

const (
	// settling is the number of matches after which a version is half as urgent
	// as a newcomer.
	settling = 10
	// vague is by how many Elo an opponent counts as farther away whose Elo is
	// known as well as from one match, that is with the uncertainty 1 of package
	// elo; for others times the root of theirs.
	vague = 100
	// often is by how many Elo an opponent counts as farther away that was met as
	// often as the average one.
	often = 75
	// related is the same for a bot of the same owner.
	related = 400
	// chance is the end of the random Elo added to each opponent's distance.
	chance = 200
)

// Player is an active version on a ladder.
type Player struct {
	ID    int64
	Owner int64 // the person; 0 for a house bot
	Elo   float64
	// Uncertainty of the Elo as in package elo, 0 for the anchor.
	Uncertainty float64
	Matches     int // finished ones that moved its Elo
	Waited      int // matches finished on the ladder since its last one, or since it came
	Busy        int // matches that it is playing now
}

// Ladder is one ladder as it is now.
type Ladder struct {
	Name    string
	Slots   int // versions in a match, at least 2
	Players []Player
	// Met counts the matches of two versions on the ladder as opponents, those
	// being played included. nil: nobody has met.
	Met func(a, b int64) int
}

// enough tells whether a match can be made up at all.
func (l *Ladder) enough() bool { return l.Slots >= 2 && len(l.Players) >= l.Slots }

// Next chooses the versions of the ladder's next match by slot; ok is false when
// there are too few.
func Next(l Ladder, r *rand.Rand) (slots []int64, ok bool) {
	if !l.enough() {
		return nil, false
	}
	seated := make([]*Player, 1, l.Slots)
	seated[0] = l.first(r)
	for len(seated) < l.Slots {
		p := l.opponent(seated, r)
		if p == nil { // the same version several times
			return nil, false
		}
		seated = append(seated, p)
	}
	slots = make([]int64, l.Slots)
	for i, p := range seated {
		slots[i] = p.ID
	}
	r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	return slots, true
}

// Urgency of a player among so many: the share of the ladder that played since
// its last match, and how new it is, from 1 downwards. As the second part is at
// most 1, whoever has waited for as many matches as there are players comes
// before everyone who plays or arrives after that: nobody waits for more than
// twice that many.
func Urgency(p Player, players int) float64 {
	if p.Busy > 0 {
		p.Waited = 0
	}
	return float64(p.Waited)/float64(players) + settling/float64(settling+p.Matches+p.Busy)
}

// first is the most urgent player; equals are drawn.
func (l *Ladder) first(r *rand.Rand) *Player {
	best, most, equals := &l.Players[0], math.Inf(-1), 0
	for i := range l.Players {
		p := &l.Players[i]
		switch u := Urgency(*p, len(l.Players)); {
		case u > most:
			best, most, equals = p, u, 1
		case u == most:
			if equals++; r.IntN(equals) == 0 {
				best = p
			}
		}
	}
	return best
}

// opponent is the best one for those seated: nearest to the first of them, with
// the extra Elo for old acquaintances and some chance. nil when nobody is left.
func (l *Ladder) opponent(seated []*Player, r *rand.Rand) *Player {
	first := seated[0]
	// What one meeting counts: a player has met the average other this often.
	average := float64((first.Matches+first.Busy)*(l.Slots-1)) / float64(len(l.Players)-1)
	var best *Player
	least := math.Inf(1)
	for i := range l.Players {
		p := &l.Players[i]
		if sits(seated, p) {
			continue
		}
		distance := math.Abs(p.Elo-first.Elo) + vague*math.Sqrt(max(p.Uncertainty, 0)) + chance*r.Float64()
		if best == nil || distance < least {
			distance += l.reluctance(seated, p, average)
		}
		if best == nil || distance < least {
			best, least = p, distance
		}
	}
	return best
}

// reluctance is by how many Elo a player counts as farther away for having met
// those seated, or for having the same owner.
func (l *Ladder) reluctance(seated []*Player, p *Player, average float64) float64 {
	elos := 0.0
	for _, s := range seated {
		if l.Met != nil {
			elos += often * float64(l.Met(s.ID, p.ID)) / max(average, 1e-9) / float64(len(seated))
		}
		if s.Owner == p.Owner && s.Owner != 0 {
			elos += related
		}
	}
	return elos
}

func sits(seated []*Player, p *Player) bool {
	for _, s := range seated {
		if s.ID == p.ID {
			return true
		}
	}
	return false
}
