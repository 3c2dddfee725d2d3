package rl

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Tally is how games ended for an agent.
type Tally struct {
	Won   int `json:"won"`
	Lost  int `json:"lost"`
	Drawn int `json:"drawn"`
	Score int `json:"score"` // the sum of Game.Score
}

// Games returns how many games were played.
func (t Tally) Games() int { return t.Won + t.Lost + t.Drawn }

// Share returns the part of the games won, a draw being half.
func (t Tally) Share() float64 {
	return (float64(t.Won) + float64(t.Drawn)/2) / float64(max(1, t.Games()))
}

// Evaluate plays games of an agent against random players, from one seat after the other; in
// teams it plays for its partner, too.
func Evaluate(g Game, a *policy.Agent, games int, seed uint64) (t Tally) {
	r := rules.NewRand(seed)
	var s policy.View
	for n := range games {
		seat := n % g.Players()
		g.Deal(n/g.Players(), r)
		for g.Turn() != rules.Over {
			g.Look(&s)
			action := policy.Random(s.Legal, r)
			if g.Side(g.Turn()) == g.Side(seat) {
				action, _ = a.Choose(&s, r)
			}
			g.Play(&s, action)
		}
		switch g.Standing(seat) {
		case 1:
			t.Won++
		case 0:
			t.Drawn++
		default:
			t.Lost++
		}
		t.Score += g.Score(seat)
	}
	return t
}
