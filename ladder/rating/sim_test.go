package rating

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// table is a simulated game for two seats: seat 0 is ahead by the difference
// of skill, the luck of its deal, which rotation turns round, and noise that
// is new in each game. Within tie of 0 it is a tie; the points are the lead.
type simGame struct{ tie, luck, noise float64 }

var (
	// cards is luck for the most part, as a game of cards.
	cards = simGame{tie: 0.1, luck: 1, noise: 0.5}
	// board has no luck, and many ties.
	board = simGame{tie: 0.5, luck: 0, noise: 1}
)

func (g simGame) sd() float64 { return math.Hypot(g.luck, g.noise) }

// score is the expected score at a difference of skill.
func (g simGame) score(skill float64) float64 {
	n := distuv.UnitNormal
	return (n.CDF((skill-g.tie)/g.sd()) + n.CDF((skill+g.tie)/g.sd())) / 2
}

// skill is the difference of skill with the expected score of elo.
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
		if err := t.Add(g.deal(r, skill)); err != nil {
			panic(err)
		}
	}
	return t
}

func simRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
