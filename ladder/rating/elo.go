// Package rating computes how a finished match changes its ladder: the Elo and the totals of the versions that
// played, and the counts of each pair of opponents. The same matches in the same order give the same bits on every
// machine, so ratings can be computed again from the matches and compared exactly. Begin with Formula.Outcome.
//
// docs/ratings.md has the formulas, the reasons, and the simulations behind the constants.
package rating

import (
	"math"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/stats"
)

// ExpectedScore returns the expected score, from 0 to 1, of a player that is diff Elo stronger than its opponent.
func (f Formula) ExpectedScore(diff float64) float64 { return logistic(f.PerElo * diff) }

// Player is the rating of a version before a match. A version without matches on the ladder has the uncertainty
// Formula.Newcomer. Its Elo is that of the bot's previous version or, without one, Formula.Start.
type Player struct {
	Elo         float64
	Uncertainty float64
	Fixed       bool // true for the anchor, whose Elo never changes and is certain
}

// variance returns the uncertainty of the player's Elo. It is 0 if the Elo is fixed.
func (p Player) variance() float64 {
	if p.Fixed {
		return 0
	}
	return p.Uncertainty
}

// matchChanges returns how a finished match changes the rating of each player. sides[i] is the side of players[i];
// the members of a team have the same side. The Elo of a team is the mean of its members. Each deal has one duel for
// every two players of different sides. share is the part of the match that counts, from 0 to 1; if it is 0, no
// rating changes. The caller must set the fields of each change that identify the match, the ladder and the version.
func (f Formula) matchChanges(players []Player, sides []int, deals []stats.Deal, share float64) []ladder.Change {
	teams, scores := teamsOf(players, sides), meanScores(sides, deals)
	moves := make([]ladder.Change, len(players))
	for a, t := range teams {
		rivals := float64(len(teams) - 1)
		r := result{formula: &f, share: share, variance: t.variance}
		opposed := 0.0
		for b, other := range teams {
			if a != b {
				r.score += scores[[2]int{t.side, other.side}] / rivals
				r.leads = append(r.leads, t.elo-other.elo)
				opposed += other.variance
			}
		}
		r.variance += opposed / float64(rivals*rivals)
		r.variance *= share
		r.solve()
		for _, slot := range t.slots {
			moves[slot] = r.memberChange(players[slot], len(t.slots))
		}
	}
	return moves
}

// result is what one side of a match has achieved against all other sides.
type result struct {
	formula  *Formula
	score    float64   // mean score against the other sides
	leads    []float64 // Elo of the side minus the Elo of each other side
	share    float64   // the part of the match that counts, from 0 to 1
	variance float64   // of the lead before the match, in the unit that Formula describes, times share

	expectedScore float64
	// steepness is the mean slope of the curve of expected scores between the leads before and after the match.
	// information is its slope at the leads after the match. Both are divided by the slope at equal strength.
	steepness, information float64
}

// expectedAt returns the side's mean expected score against the other sides, as it would be if the side were stronger
// by shift Elo.
func (r *result) expectedAt(shift float64) float64 {
	sum := 0.0
	for _, lead := range r.leads {
		sum += r.formula.ExpectedScore(lead + shift)
	}
	return sum / float64(len(r.leads))
}

// slope returns the derivative of expectedAt at shift. It is divided by the derivative of the expected score at equal
// strength, so that it is at most 1.
func (r *result) slope(shift float64) float64 {
	sum := 0.0
	for _, lead := range r.leads {
		e := r.formula.ExpectedScore(lead + shift)
		sum += float64(4 * e * (1 - e))
	}
	return sum / float64(len(r.leads))
}

// solve computes the most likely leads of the side (its Elo minus that of each other side) after the match, and from
// them the expected score, the information and the steepness. All leads change by the same shift y, with y =
// EloPerScore * variance * (score - expected score at y). The right side decreases with y, so that y is between 0 and
// the right side at 0.
func (r *result) solve() {
	r.expectedScore = r.expectedAt(0)
	pull := r.formula.EloPerScore * r.variance
	low, high := 0.0, float64(pull*(r.score-r.expectedScore))
	for range 64 {
		middle := (low + high) / 2
		if r.formula.EloPerScore*r.variance*(r.score-r.expectedAt(middle)) > middle == (high > 0) {
			low = middle
		} else {
			high = middle
		}
	}
	r.information = r.slope(low)
	r.steepness = r.information
	// Within a thousandth of an Elo the curve is straight.
	if math.Abs(low) > 1e-3 {
		r.steepness = r.formula.EloPerScore * (r.expectedAt(low) - r.expectedScore) / low
	}
}

// memberChange returns how the match changes the rating of p, a member of this side. members is the number of
// members. The Elo changes by K * (Score - ExpectedScore), where K is proportional to p.Uncertainty/members. If the
// Elo of p is fixed, nothing changes.
func (r *result) memberChange(p Player, members int) ladder.Change {
	m := ladder.Change{EloBefore: p.Elo, EloAfter: p.Elo, Score: r.score, ExpectedScore: r.expectedScore, Uncertainty: p.Uncertainty}
	if p.Fixed {
		return m
	}
	// The member's part in the lead's uncertainty.
	part := p.Uncertainty / float64(members)
	weightedPart := part * r.share
	m.K = r.formula.EloPerScore * weightedPart / (1 + float64(r.steepness*r.variance))
	m.EloAfter = p.Elo + float64(m.K*(r.score-r.expectedScore))
	reduction := r.information * part * weightedPart / (1 + float64(r.information*r.variance))
	m.Uncertainty = p.Uncertainty - reduction + float64(r.formula.Forget*r.share)
	return m
}

// team is one side of a match.
type team struct {
	side     int
	slots    []int
	elo      float64 // mean of its members
	variance float64 // of elo, in the unit that Formula describes
}

// teamsOf returns the sides of a match. players are grouped by sides, where sides[i] is the side of players[i]. The
// result is in the order of the first player of each side.
func teamsOf(players []Player, sides []int) (teams []team) {
	for slot, side := range sides {
		i := slices.IndexFunc(teams, func(t team) bool { return t.side == side })
		if i < 0 {
			i = len(teams)
			teams = append(teams, team{side: side})
		}
		t := &teams[i]
		t.slots = append(t.slots, slot)
		t.elo += players[slot].Elo
		t.variance += players[slot].variance()
	}
	for i := range teams {
		t := &teams[i]
		size := len(t.slots)
		t.elo /= float64(size)
		t.variance /= float64(size * size)
	}
	return teams
}

// meanScores returns the mean score of each side against each other side over all deals, from 0 to 1. The key {a, b}
// has the score of side a against side b. A side is one player or a team; sides[i] is the side of player i.
func meanScores(sides []int, deals []stats.Deal) map[[2]int]float64 {
	scores, duels := map[[2]int]float64{}, map[[2]int]float64{}
	for _, deal := range deals {
		for _, d := range deal {
			for _, d := range [...]stats.Duel{d, d.Reverse()} {
				key := [2]int{sides[d.A], sides[d.B]}
				scores[key] += d.Score
				duels[key]++
			}
		}
	}
	for key := range scores {
		scores[key] /= duels[key]
	}
	return scores
}

// exp returns e to the power of x, for x <= 0. Its results are the same on all machines, unlike those of math.Exp,
// which has a different implementation for each kind of processor. exp uses only sums, products and quotients, each
// rounded separately.
func exp(x float64) float64 {
	if x < -700 {
		return 0
	}
	halvings := 0
	for x < -0.25 {
		x /= 2
		halvings++
	}
	// The Taylor series by Horner's rule; 0.25^13/13! is below 1e-17.
	sum := 1.0
	for k := 13; k > 0; k-- {
		sum = 1 + float64(x*sum/float64(k))
	}
	for range halvings {
		sum *= sum
	}
	return sum
}
