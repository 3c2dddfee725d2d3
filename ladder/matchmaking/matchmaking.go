// Package matchmaking chooses the next match of a ladder: the most urgent version
// against opponents near in Elo and seldom met. The rule is published in
// docs/ladder.md, section "Who plays whom"; its constants are here.
//
// It stores nothing and reads nothing itself: the caller passes the state of the
// ladder, matches that are being played included, and the randomness. A choice
// takes time proportional to the number of players. A Pool keeps the state, for choices in quick succession.
package matchmaking

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// halfUrgent is the number of matches after which a version is half as urgent
	// as a newcomer.
	halfUrgent = 10
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
	// Remote says that the version plays only while it is connected: the caller leaves out
	// those that are not.
	Remote bool
	// House says that it is a house bot: it makes way for others.
	House bool
	// Idle says that a match among such versions alone is not wanted now.
	Idle bool
}

// Ladder is one ladder as it is now.
type Ladder struct {
	Name    string
	Slots   int // versions in a match, at least 2
	Players []Player
}

// Met returns how often a version has met others on the ladder as opponents, by
// their IDs, matches that are being played included.
type Met func(version int64) (map[int64]int, error)

// enough reports whether a match can be made up at all.
func (l *Ladder) enough() bool { return l.Slots >= 2 && len(l.Players) >= l.Slots }

// seat is a player who is in the match, and whom it has met.
type seat struct {
	*Player
	met map[int64]int
	// meeting has those whom it meets beside, in a pool's matches that are not over.
	meeting []int64
}

// Next chooses the versions of the ladder's next match by slot; ok is false when
// there are too few, or all are idle. met is asked once for each that needs an opponent, and its
// error ends the choice; nil stands for a ladder on which nobody has met.
func Next(l Ladder, met Met, r *rand.Rand) (slots []int64, ok bool, err error) {
	if !l.enough() {
		return nil, false, nil
	}
	seated := make([]seat, 0, l.Slots)
	for p := l.first(r); ; p = l.opponent(seated, r) {
		if p == nil { // the same version several times, or all are idle
			return nil, false, nil
		}
		if seated = append(seated, seat{Player: p}); len(seated) == l.Slots {
			break
		}
		if met != nil {
			if seated[len(seated)-1].met, err = met(p.ID); err != nil {
				return nil, false, err
			}
		}
	}
	slots = make([]int64, l.Slots)
	for i, s := range seated {
		slots[i] = s.ID
	}
	r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	return slots, true, nil
}

// urgency returns the urgency of one of that many players: the share of the ladder that
// played since its last match, and how new it is, from 1 downwards. As the second
// part is at most 1, whoever has waited for as many matches as there are players
// comes before everyone who plays or arrives after that: nobody waits for more than
// twice that many. One that makes way has the first part only.
func urgency(p Player, players int, makesWay bool) float64 {
	if p.Busy > 0 {
		p.Waited = 0
	}
	waited := float64(p.Waited) / float64(players)
	if makesWay {
		return waited
	}
	return waited + newness(p)
}

// newness is the second part of the urgency.
func newness(p Player) float64 { return halfUrgent / float64(halfUrgent+p.Matches+p.Busy) }

// vagueness returns by how many Elo a player counts as farther away for its uncertainty.
func vagueness(p Player) float64 { return vague * math.Sqrt(max(p.Uncertainty, 0)) }

// averageMet returns how often a player has met the average other.
func averageMet(p Player, slots, players int) float64 {
	return float64((p.Matches+p.Busy)*(slots-1)) / float64(players-1)
}

// first returns the most urgent player; equals are drawn. House bots make way where others
// play.
func (l *Ladder) first(r *rand.Rand) *Player {
	best, most, equals := &l.Players[0], math.Inf(-1), 0
	others := slices.ContainsFunc(l.Players, func(p Player) bool { return !p.House })
	for i := range l.Players {
		p := &l.Players[i]
		switch u := urgency(*p, len(l.Players), others && p.House); {
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

// opponent returns the best one for those seated: nearest to the first of them, with
// the extra Elo for old acquaintances and some chance. The last one is not idle if all
// before it are. nil when nobody is left.
func (l *Ladder) opponent(seated []seat, r *rand.Rand) *Player {
	first := seated[0]
	idle := len(seated) == l.Slots-1 && !slices.ContainsFunc(seated, func(s seat) bool { return !s.Idle })
	average := averageMet(*first.Player, l.Slots, len(l.Players))
	var best *Player
	least := math.Inf(1)
	for i := range l.Players {
		p := &l.Players[i]
		if idle && p.Idle || sits(seated, p) {
			continue
		}
		distance := math.Abs(p.Elo-first.Elo) + vagueness(*p) + chance*r.Float64()
		if best == nil || distance < least {
			distance += reluctance(seated, p, average)
		}
		if best == nil || distance < least {
			best, least = p, distance
		}
	}
	return best
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

func sits(seated []seat, p *Player) bool {
	for _, s := range seated {
		if s.ID == p.ID {
			return true
		}
	}
	return false
}
