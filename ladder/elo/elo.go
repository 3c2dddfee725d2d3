// Package elo says what a finished match moves: the Elo of every version that
// played it, from the scores of its deals. It is pure computation, and the same
// matches in the same order give the same bits on every machine, so ratings can
// be computed again from the matches and compared exactly.
//
// docs/ladder.md has the formulas for bot authors, the reasons and the
// simulations behind the constants.
package elo

import (
	"errors"
	"fmt"
	"math"

	"github.com/timba-arena/timba/ladder/rating"
)

const (
	// Start is the Elo of a bot that has no predecessor.
	Start = 1000.0
	// AnchorElo is what the anchor is held at.
	AnchorElo = 1000.0
)

// A rating is an Elo and an uncertainty, both of which every match moves. The
// uncertainty is the variance of the Elo over that of what one match tells: at 1
// the Elo is known as well as from one match against an opponent known exactly.
const (
	// Newcomer is the uncertainty of a version before its first match on a
	// ladder, with a predecessor or without.
	Newcomer = 30.0
	// forget is added after every match, so that an old version stays able to
	// follow when its opponents turn out to be other than thought.
	forget = 0.0003
	// full is the Elo that a score of 1 more stands for near an even score:
	// 1600/ln 10, from the slope of the curve there.
	full = 694.8711
)

// Expected is the expected score of a player that is diff Elo stronger.
func Expected(diff float64) float64 {
	const perElo = math.Ln10 / 400
	if diff < 0 {
		e := exp(perElo * diff)
		return e / (1 + e)
	}
	return 1 / (1 + exp(perElo*-diff))
}

// Player is a version as it comes to a match. A version without matches on the
// ladder has the Elo of its predecessor there, or Start, and in either case the
// uncertainty Newcomer; afterwards both are what its last Move left.
type Player struct {
	Elo         float64
	Uncertainty float64
	Held        bool // the anchor: its Elo never moves and is not uncertain
}

// variance is the uncertainty of the player's Elo.
func (p Player) variance() float64 {
	if p.Held {
		return 0
	}
	return p.Uncertainty
}

// Move is what a match did to one version: After = Before + K × (Score - Expected).
type Move struct {
	Before, After float64
	K             float64
	Score         float64 // of its side, mean over the deals and opposing sides
	Expected      float64 // the same before the match, from the Elo of the sides
	Uncertainty   float64 // after the match
}

// Match is what a finished match moves, by slot. sides[i] is the side of slot i;
// the deals' duels have slots as A and B, one for every two slots of different
// sides. A team has the mean Elo of its members.
func Match(players []Player, sides []int, deals []rating.Deal) ([]Move, error) {
	teams, err := gather(players, sides)
	if err != nil {
		return nil, err
	}
	scores, err := scoresBySide(sides, teams, deals)
	if err != nil {
		return nil, err
	}
	moves := make([]Move, len(players))
	for a, t := range teams {
		rivals := float64(len(teams) - 1)
		r := result{variance: t.variance}
		opposed := 0.0
		for b, other := range teams {
			if a != b {
				r.score += scores[a][b] / rivals
				r.leads = append(r.leads, t.elo-other.elo)
				opposed += other.variance
			}
		}
		r.variance += opposed / float64(rivals*rivals)
		r.solve()
		for _, slot := range t.slots {
			moves[slot] = r.move(players[slot], len(t.slots))
		}
	}
	return moves, nil
}

// result is a match as one side sees it.
type result struct {
	score    float64   // mean over the opposing sides
	leads    []float64 // in Elo, over each of them
	variance float64   // of the lead, in the unit of uncertainties

	expected float64
	// steepness is the slope of the expected score between the leads before and
	// after, and information that after; 1 is the slope of an even score.
	steepness, information float64
}

// at is the mean expected score when all leads are more by shift.
func (r *result) at(shift float64) float64 {
	sum := 0.0
	for _, lead := range r.leads {
		sum += Expected(lead + shift)
	}
	return sum / float64(len(r.leads))
}

// slope is that of at, as a part of full's.
func (r *result) slope(shift float64) float64 {
	sum := 0.0
	for _, lead := range r.leads {
		e := Expected(lead + shift)
		sum += float64(4 * e * (1 - e))
	}
	return sum / float64(len(r.leads))
}

// solve finds the most likely leads after the match: shifted by y from those
// before, where y = full × variance × (score - expected score at y). The right
// side falls with y, so y is between 0 and the right side at 0.
func (r *result) solve() {
	r.expected = r.at(0)
	pull := full * r.variance
	low, high := 0.0, float64(pull*(r.score-r.expected))
	for range 64 {
		middle := (low + high) / 2
		if full*r.variance*(r.score-r.at(middle)) > middle == (high > 0) {
			low = middle
		} else {
			high = middle
		}
	}
	r.information = r.slope(low)
	r.steepness = r.information
	// Within a thousandth of an Elo the curve is straight.
	if math.Abs(low) > 1e-3 {
		r.steepness = full * (r.at(low) - r.expected) / low
	}
}

// move is what the result does to one of the members of the side.
func (r *result) move(p Player, members int) Move {
	m := Move{Before: p.Elo, After: p.Elo, Score: r.score, Expected: r.expected, Uncertainty: p.Uncertainty}
	if p.Held {
		return m
	}
	// How much of the lead's surprise is this member's: its part in the mean.
	part := p.Uncertainty / float64(members)
	m.K = full * part / (1 + float64(r.steepness*r.variance))
	m.After = p.Elo + float64(m.K*(r.score-r.expected))
	learnt := r.information * part * part / (1 + float64(r.information*r.variance))
	m.Uncertainty = p.Uncertainty - learnt + forget
	return m
}

// team is one side of a match.
type team struct {
	slots    []int
	elo      float64 // the mean of its members'
	variance float64 // of that mean, in the unit of uncertainties
}

// gather makes the teams in the order of their first slots.
func gather(players []Player, sides []int) ([]team, error) {
	if len(players) != len(sides) {
		return nil, fmt.Errorf("elo: %d players have %d sides: give one side a slot", len(players), len(sides))
	}
	var teams []team
	index := make(map[int]int)
	for slot, side := range sides {
		p := players[slot]
		if math.IsNaN(p.Elo) || math.IsInf(p.Elo, 0) {
			return nil, fmt.Errorf("elo: slot %d has the Elo %v, not a finite number", slot, p.Elo)
		}
		if !(p.Uncertainty >= 0) || math.IsInf(p.Uncertainty, 0) {
			return nil, fmt.Errorf("elo: slot %d has the uncertainty %v: it is 0 or more, and %v for a newcomer", slot, p.Uncertainty, Newcomer)
		}
		t, ok := index[side]
		if !ok {
			t = len(teams)
			index[side] = t
			teams = append(teams, team{})
		}
		teams[t].slots = append(teams[t].slots, slot)
	}
	if len(teams) < 2 {
		return nil, errors.New("elo: all slots are of one side: a match has at least two")
	}
	for i := range teams {
		t := &teams[i]
		size := len(t.slots)
		for _, slot := range t.slots {
			t.elo += players[slot].Elo
			t.variance += players[slot].variance()
		}
		t.elo /= float64(size)
		t.variance /= float64(size * size)
	}
	return teams, nil
}

// scoresBySide is the mean score of each side against each other over the deals
// and the pairs of their members.
func scoresBySide(sides []int, teams []team, deals []rating.Deal) ([][]float64, error) {
	if len(deals) == 0 {
		return nil, errors.New("elo: a match without deals moves nothing: leave it out")
	}
	bySlot, err := sumSlots(sides, deals)
	if err != nil {
		return nil, err
	}
	scores := make([][]float64, len(teams))
	for a, t := range teams {
		scores[a] = make([]float64, len(teams))
		for b, other := range teams {
			if a == b {
				continue
			}
			sum := 0.0
			for _, i := range t.slots {
				for _, j := range other.slots {
					sum += bySlot[i][j]
				}
			}
			scores[a][b] = sum / float64(len(t.slots)*len(other.slots)*len(deals))
		}
	}
	return scores, nil
}

// sumSlots adds the scores of each slot against each opponent up; every deal has
// every pair of opponents once.
func sumSlots(sides []int, deals []rating.Deal) ([][]float64, error) {
	n := len(sides)
	sums, last := make([][]float64, n), make([][]int, n)
	for i := range n {
		sums[i], last[i] = make([]float64, n), make([]int, n)
	}
	for d, deal := range deals {
		for _, duel := range deal {
			if err := checkDuel(duel, sides); err != nil {
				return nil, fmt.Errorf("elo: deal %d: %w", d, err)
			}
			if last[duel.A][duel.B] == d+1 {
				return nil, fmt.Errorf("elo: deal %d has slots %d and %d twice: add the rotations up first", d, duel.A, duel.B)
			}
			last[duel.A][duel.B], last[duel.B][duel.A] = d+1, d+1
			sums[duel.A][duel.B] += duel.Score
			sums[duel.B][duel.A] += 1 - duel.Score
		}
		for i := range n {
			for j := range i {
				if sides[i] != sides[j] && last[i][j] != d+1 {
					return nil, fmt.Errorf("elo: deal %d has nothing of slots %d and %d: a finished deal has every pair of opponents", d, j, i)
				}
			}
		}
	}
	return sums, nil
}

func checkDuel(d rating.Duel, sides []int) error {
	for _, slot := range [...]int{d.A, d.B} {
		if slot < 0 || slot >= len(sides) {
			return fmt.Errorf("slot %d is not one of the %d slots", slot, len(sides))
		}
	}
	if sides[d.A] == sides[d.B] {
		return fmt.Errorf("slots %d and %d are not opponents", d.A, d.B)
	}
	if !(d.Score >= 0 && d.Score <= 1) {
		return fmt.Errorf("score %v is not from 0 to 1", d.Score)
	}
	return nil
}

// exp is e to the power of x, x at most 0. The one of package math is written
// for each processor anew and differs in the last bit; this one has only sums,
// products and quotients, each rounded by itself, which are the same everywhere.
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
