package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// simGame is a simulated game for two seats. The lead of seat 0 is the sum of the difference of skill, of the luck
// of the deal, which has the opposite sign in the other rotation, and of the noise of the game. A lead below tie is
// a tie. The points are the lead.
type simGame struct{ tie, luck, noise float64 }

var (
	// cards depends mainly on luck, like a game of cards.
	cards = simGame{tie: 0.1, luck: 1, noise: 0.5}
	// board depends on no luck and has many ties.
	board = simGame{tie: 0.5, luck: 0, noise: 1}
)

func (g simGame) sd() float64 { return math.Hypot(g.luck, g.noise) }

// score returns the expected score for a difference of skill.
func (g simGame) score(skill float64) float64 {
	n := distuv.UnitNormal
	return (n.CDF((skill-g.tie)/g.sd()) + n.CDF((skill+g.tie)/g.sd())) / 2
}

// skill returns the difference of skill for which the expected score is that of elo.
func (g simGame) skill(elo float64) float64 {
	low, high := -20.0, 20.0
	for range 100 {
		if mid := (low + high) / 2; g.score(mid) < Score(elo) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

func (g simGame) game(r *rand.Rand, skill, luck float64) (score, lead float64) {
	lead = skill + luck + g.noise*r.NormFloat64()
	switch {
	case lead > g.tie:
		return 1, lead
	case lead < -g.tie:
		return 0, lead
	}
	return 0.5, lead
}

// deal plays both rotations of one deal.
func (g simGame) deal(r *rand.Rand, skill float64) Duel {
	luck := g.luck * r.NormFloat64()
	s1, p1 := g.game(r, skill, luck)
	s2, p2 := g.game(r, skill, -luck)
	return Duel{A: 0, B: 1, Games: 2, Score: (s1 + s2) / 2, Points: (p1 + p2) / 2}
}

func (g simGame) tally(r *rand.Rand, skill float64, deals int) *Tally {
	t := new(Tally)
	for range deals {
		t.Add(g.deal(r, skill))
	}
	return t
}

func simRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// tournament returns perPair deals for every two bots; the pairs of bots take turns.
func (g simGame) tournament(r *rand.Rand, elos []float64, perPair int) []Deal {
	var deals []Deal
	for i := range elos {
		for j := i + 1; j < len(elos); j++ {
			skill := g.skill(elos[i] - elos[j])
			for range perPair {
				d := g.deal(r, skill)
				d.A, d.B = i, j
				deals = append(deals, Deal{d})
			}
		}
	}
	return deals
}

// race plays one deal of a game with one seat for each bot, in every rotation. The time of a seat has a
// Gumbel distribution around the bot's skill, so that the score of any two bots is as their Elo predicts. A
// part of the time is the luck of the seat's cards, which is the same in every rotation.
func race(r *rand.Rand, elos []float64) Deal {
	const share = 0.8
	n := len(elos)
	luck := make([]float64, n)
	for i := range luck {
		luck[i] = math.Sqrt(share) * r.NormFloat64()
	}
	var result DealResult
	for rotation := range n {
		seats := make([]Seat, n)
		for i := range seats {
			bot := (i + rotation) % n
			u := distuv.UnitNormal.CDF(luck[i] + math.Sqrt(1-share)*r.NormFloat64())
			seats[i] = Seat{Bot: bot, Side: i, Points: elos[bot]/eloPerNat - math.Log(-math.Log(u))}
		}
		for i := range seats {
			seats[i].Rank = 1
			for _, other := range seats {
				if other.Points > seats[i].Points {
					seats[i].Rank++
				}
			}
		}
		result.Add(seats)
	}
	return result.Deal()
}

// within reports whether the interval contains truth.
func (e Estimate) within(truth float64) bool { return e.Low <= truth && truth <= e.High }
