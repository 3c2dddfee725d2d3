// Package matchmaking chooses the next match of a ladder: the most urgent version
// against opponents near in Elo and seldom met. The rule is published in
// docs/ratings.md, section "Who plays whom"; its constants are here.
//
// A Pool keeps a ladder in memory and chooses. It stores nothing and reads nothing itself: the
// caller tells it what changes, and passes the randomness.
package matchmaking

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// halfUrgencyMatches is the number of matches after which a version is half as urgent
	// as a newcomer.
	halfUrgencyMatches = 10
	// uncertaintyElo is by how many Elo an opponent counts as farther away whose Elo is
	// known as well as from one match, that is with the uncertainty 1 of package
	// rating; for others times the root of theirs.
	uncertaintyElo = 100
	// meetingsElo is by how many Elo an opponent counts as farther away that was met as
	// often as the average one.
	meetingsElo = 75
	// sameOwnerElo is the same for a bot of the same owner.
	sameOwnerElo = 400
	// chanceElo is the end of the random Elo added to each opponent's distance.
	chanceElo = 200
)

// Figures are the constants of the rule, for people; docs/ratings.md explains them. All but
// HalfUrgent, which is a number of matches, are Elo.
type Figures struct{ HalfUrgencyMatches, UncertaintyElo, MeetingsElo, SameOwnerElo, ChanceElo int }

// Constants returns the constants of the rule.
func Constants() Figures {
	return Figures{halfUrgencyMatches, uncertaintyElo, meetingsElo, sameOwnerElo, chanceElo}
}

// Candidate is an active version on a ladder.
type Candidate struct {
	ID    int64
	Owner int64 // the person; 0 for a house bot
	Elo   float64
	// Uncertainty of the Elo as in package rating, 0 for the anchor.
	Uncertainty float64
	Matches     int // finished ones that moved its Elo
	LastOrder   int // matches that the ladder had finished after its last one, or when it came
	OpenMatches int // matches that it is playing now
	// Remote says that the version plays only while it is connected: the caller leaves out
	// those that are not.
	Remote bool
	// House says that it is a house bot: it makes way for others.
	House bool
}

// newness is one part of a player's urgency. It is 1 before the first match, and falls with each match. The other part
// is the number of matches since the player's last one, divided by the number of players.
//
// Newness never exceeds 1. So a player who has waited for as many matches as there are players goes before everybody
// who has just played or just arrived, and nobody waits for more than twice that many matches.
func newness(p *Candidate) float64 {
	return halfUrgencyMatches / float64(halfUrgencyMatches+p.Matches+p.OpenMatches)
}

// uncertaintyDistance returns by how many Elo a player counts as farther away for its uncertainty.
func uncertaintyDistance(p *Candidate) float64 {
	return uncertaintyElo * math.Sqrt(max(p.Uncertainty, 0))
}

// averageMeetings returns how often a player has met the average other.
func averageMeetings(p *Candidate, slots, players int) float64 {
	return float64((p.Matches+p.OpenMatches)*(slots-1)) / float64(players-1)
}

// Constraints is what a match is wanted of.
type Constraints struct {
	// CanPlay reports whether a player can play now; nil: all can. It must not use the pool, and is not
	// asked for more players than the choice needs.
	CanPlay func(*Candidate) bool
	// IsIdle reports whether a match among such players alone is not wanted now; nil: none is idle.
	IsIdle func(*Candidate) bool
}

func (c Constraints) canPlay(p *Candidate) bool { return c.CanPlay == nil || c.CanPlay(p) }

func (c Constraints) isIdle(p *Candidate) bool { return c.IsIdle != nil && c.IsIdle(p) }

// Next chooses the versions of the next match by slot. The players of the ladder are those of the pool,
// whether they may play or not. It returns none when too few may play, or all are idle. Where unknown is
// not 0, the meetings of that version have to be learned first.
func (p *Pool) Next(c Constraints, r *rand.Rand) (slots []int64, unknown int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sides) < 2 || len(p.players) < len(p.sides) {
		return nil, 0
	}
	var seated []*Candidate
	for next := p.mostUrgent(c, r); next != nil; next = p.nextOpponent(c, seated, r) {
		seated = append(seated, next)
		slots = append(slots, next.ID)
		if len(slots) == len(p.sides) {
			r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
			return slots, 0
		}
		if p.meetings[next.ID] == nil {
			if next.Matches > 0 {
				return nil, next.ID
			}
			p.setMeetings(next.ID, nil)
		}
	}
	return nil, 0
}

// mostUrgent returns the most urgent player who may play, drawn among equals; nil for none. Of a large ladder thousands
// may be equal, as those that have not played, and are not asked one by one whether they may.
func (p *Pool) mostUrgent(c Constraints, r *rand.Rand) (best *Candidate) {
	houses := !slices.ContainsFunc(p.players, func(p Candidate) bool { return !p.House })
	urgency := func(player *Candidate) (u float64) {
		if player.OpenMatches == 0 {
			u = float64(p.finishedMatches-player.LastOrder) / float64(len(p.players))
		}
		if houses || !player.House {
			u += newness(player)
		}
		return u
	}
	most, equals := 0.0, p.equalBuffer[:0]
	for i := range p.players {
		switch u := urgency(&p.players[i]); {
		case u > most:
			most, equals = u, append(equals[:0], &p.players[i])
		case u == most:
			equals = append(equals, &p.players[i])
		}
	}
	p.equalBuffer = equals
	for n := len(equals); n > 0; n-- {
		k := r.IntN(n)
		if c.canPlay(equals[k]) {
			return equals[k]
		}
		equals[k] = equals[n-1]
	}
	drawn := 0 // among equals, of the less urgent
	for i := range p.players {
		player := &p.players[i]
		u := urgency(player)
		if u == most || best != nil && u < urgency(best) || !c.canPlay(player) {
			continue
		}
		if best == nil || u > urgency(best) {
			drawn = 0
		}
		if drawn++; r.IntN(drawn) == 0 {
			best = player
		}
	}
	return best
}

// nextOpponent returns the best player for those seated: nearest to the first of them, with the extra Elo for
// old acquaintances and some chance. The last one is not idle if all before it are. nil when nobody is left.
func (p *Pool) nextOpponent(c Constraints, seated []*Candidate, r *rand.Rand) (best *Candidate) {
	first, least := seated[0], math.Inf(1)
	active := func(p *Candidate) bool { return !c.isIdle(p) }
	idle := len(seated) == len(p.sides)-1 && !slices.ContainsFunc(seated, active)
	average := averageMeetings(first, len(p.sides), len(p.players))
	for i := range p.players {
		player := &p.players[i]
		distance := math.Abs(player.Elo - first.Elo)
		if best != nil && distance >= least || slices.Contains(seated, player) {
			continue
		}
		distance += uncertaintyDistance(player) + chanceElo*r.Float64()
		if best != nil && distance >= least {
			continue
		}
		distance += p.reluctance(seated, player, average)
		if (best == nil || distance < least) && !(idle && c.isIdle(player)) && c.canPlay(player) {
			best, least = player, distance
		}
	}
	return best
}

// reluctance returns by how many Elo a player counts as farther away for having met
// those seated, or for having the same owner.
func (p *Pool) reluctance(seated []*Candidate, player *Candidate, average float64) (elo float64) {
	for _, s := range seated {
		elo += meetingsElo * float64(p.meetings[s.ID][player.ID]) / max(average, 1e-9) / float64(len(seated))
		if s.Owner == player.Owner && s.Owner != 0 {
			elo += sameOwnerElo
		}
	}
	return elo
}
