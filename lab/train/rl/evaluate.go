package rl

import (
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Tally is how games ended for an agent.
type Tally struct {
	run.Tally
	Score int `json:"score"` // the sum of Game.Score
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
		t.Count(g.Standing(seat))
		t.Score += g.Score(seat)
	}
	return t
}
