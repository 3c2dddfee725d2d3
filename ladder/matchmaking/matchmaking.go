// Package matchmaking chooses the next match of a ladder: the most urgent version, and opponents that are
// near in Elo and that it has seldom met. docs/ratings.md, section "Who plays whom", explains the rule; its
// constants are here.
//
// Begin with Pool, which has the players of a ladder in memory and chooses. The caller reports every change
// to it and passes the randomness; a Pool stores nothing.
package matchmaking

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// halfUrgencyMatches is the number of matches after which the urgency of a version due to few matches has dropped
	// to half that of a newcomer.
	halfUrgencyMatches = 10
	// uncertaintyElo is the distance in Elo that is added for an opponent whose uncertainty is 1, that is, whose Elo
	// is known as well as after one match; see package rating. For other uncertainties it is multiplied by the square
	// root of the uncertainty.
	uncertaintyElo = 100
	// meetingsElo is the distance in Elo that is added for an opponent that the player has met an average number of
	// times. It is proportional to that number.
	meetingsElo = 75
	// sameOwnerElo is the distance in Elo that is added for an opponent of the same owner.
	sameOwnerElo = 400
	// chanceElo limits the random distance in Elo that is added for each opponent: the distance is from 0 to
	// chanceElo.
	chanceElo = 200
)

// Figures has the constants of the rule by which matches are chosen, to be shown to people. All are in Elo except
// HalfUrgencyMatches, which is a number of matches. docs/ratings.md explains them.
type Figures struct{ HalfUrgencyMatches, UncertaintyElo, MeetingsElo, SameOwnerElo, ChanceElo int }

// Constants returns the constants of the rule by which matches are chosen.
func Constants() Figures {
	return Figures{halfUrgencyMatches, uncertaintyElo, meetingsElo, sameOwnerElo, chanceElo}
}

// Candidate is a player that a Pool may choose for a match: an active version of a bot on a ladder.
type Candidate struct {
	ID    int64
	Owner int64 // the person; 0 for a house bot
	Elo   float64
	// Uncertainty is the uncertainty of Elo, as in package rating. It is 0 for the bot whose Elo is fixed.
	Uncertainty float64
	Matches     int // number of its finished matches
	LastOrder   int // number of finished matches of the ladder after its last one, or when it joined
	OpenMatches int // number of its unfinished matches; the Pool sets it
	// Remote is set if the version runs on another machine and plays only while it is connected. While it is not
	// connected, Constraints.CanPlay must return false for it.
	Remote bool
	// House is set if the version belongs to a house bot, a bot that is part of timba. A house bot does not become
	// more urgent by having had few matches, so that newcomers of people come before it. This does not apply if all
	// players are house bots.
	House bool
}

// newness returns the part of a player's urgency that is due to few matches. It is 1 before the first match and
// decreases with each match, finished or open. It does not count for house bots (part of timba), unless all players
// are house bots.
//
// The other part of the urgency is the number of matches on the ladder since the player's last one, divided by the
// number of players. It is 0 while the player has an open match.
//
// Because newness is at most 1, a player that has waited for as many matches as there are players comes before all
// that have just played or joined. Nobody waits for more than twice that many matches.
func newness(p *Candidate) float64 {
	return halfUrgencyMatches / float64(halfUrgencyMatches+p.Matches+p.OpenMatches)
}

func uncertaintyDistance(p *Candidate) float64 {
	return uncertaintyElo * math.Sqrt(max(p.Uncertainty, 0))
}

// averageMeetings returns how often p has met another player on average. Partners in a team count as opponents here.
// slots is the number of versions in a match, and players is the number of players on the ladder.
func averageMeetings(p *Candidate, slots, players int) float64 {
	return float64((p.Matches+p.OpenMatches)*(slots-1)) / float64(players-1)
}

// Constraints defines which players Pool.Next may choose. The zero value allows all.
type Constraints struct {
	// CanPlay reports whether a player can play now. It must not call the pool. It may be slow, because it is
	// called for as few players as possible. If CanPlay is nil, all players can play.
	CanPlay func(*Candidate) bool
	// IsIdle reports whether a player needs no more matches. Next chooses no match in which all players are idle.
	// If IsIdle is nil, no player is idle.
	IsIdle func(*Candidate) bool
}

func (c Constraints) canPlay(p *Candidate) bool { return c.CanPlay == nil || c.CanPlay(p) }

func (c Constraints) isIdle(p *Candidate) bool { return c.IsIdle != nil && c.IsIdle(p) }

// Next chooses the versions of the next match and returns their IDs, in an order chosen at random. It does not open
// the match: the caller must call Open when the match starts. slots is nil if too few versions can play now, or if
// all of them are idle; see Constraints.
//
// If unknown is not 0, slots is nil because the pool does not know how often the version with this ID has met others.
// The caller must then call SetMeetings for that version and call Next again.
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

// mostUrgent returns the most urgent player that can play, or nil if none can. Among equally urgent players it
// chooses at random. There may be thousands of equally urgent newcomers, so it calls CanPlay for one of them after
// another until one can play.
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
	highest, equals := 0.0, p.equalBuffer[:0]
	for i := range p.players {
		switch u := urgency(&p.players[i]); {
		case u > highest:
			highest, equals = u, append(equals[:0], &p.players[i])
		case u == highest:
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
	drawn := 0 // number of equals so far, among the less urgent
	for i := range p.players {
		player := &p.players[i]
		u := urgency(player)
		if u == highest || best != nil && u < urgency(best) || !c.canPlay(player) {
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

// nextOpponent returns the next opponent for the players in seated, which are already chosen for a match, or nil if
// there is none. It chooses the player that is nearest in Elo to seated[0], after additions for uncertainty, chance,
// earlier meetings and a common owner. If all seated players are idle, the last opponent of the match must not be
// idle.
func (p *Pool) nextOpponent(c Constraints, seated []*Candidate, r *rand.Rand) (best *Candidate) {
	first, nearest := seated[0], math.Inf(1)
	active := func(p *Candidate) bool { return !c.isIdle(p) }
	allIdle := len(seated) == len(p.sides)-1 && !slices.ContainsFunc(seated, active)
	average := averageMeetings(first, len(p.sides), len(p.players))
	for i := range p.players {
		player := &p.players[i]
		distance := math.Abs(player.Elo - first.Elo)
		if best != nil && distance >= nearest || slices.Contains(seated, player) {
			continue
		}
		distance += uncertaintyDistance(player) + chanceElo*r.Float64()
		if best != nil && distance >= nearest {
			continue
		}
		distance += p.reluctance(seated, player, average)
		if (best == nil || distance < nearest) && !(allIdle && c.isIdle(player)) && c.canPlay(player) {
			best, nearest = player, distance
		}
	}
	return best
}

// reluctance returns a penalty, in Elo, for choosing player as an opponent of the players in seated, which are
// already chosen for the match. The penalty makes matches rarer between players that have met often or have the same
// owner. average is how often, on average, the first seated player has met each other player. The penalty is a sum:
//   - sameOwnerElo for each seated player of the same owner
//   - meetingsElo times the mean number of meetings with a seated player, divided by average
func (p *Pool) reluctance(seated []*Candidate, player *Candidate, average float64) (elo float64) {
	for _, s := range seated {
		elo += meetingsElo * float64(p.meetings[s.ID][player.ID]) / max(average, 1e-9) / float64(len(seated))
		if s.Owner == player.Owner && s.Owner != 0 {
			elo += sameOwnerElo
		}
	}
	return elo
}
