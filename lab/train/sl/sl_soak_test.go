//go:build soak

package sl

import (
	"testing"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// TestBeatsRandom checks that a net that has learned from some thousand random games clearly beats random play.
func TestBeatsRandom(t *testing.T) {
	set := data(t, "brisca2", 300)
	c := config(set)
	c.Rate, c.Epochs = 0.003, 3
	tr := training(t, set, c, 2)
	trained(t, tr)
	const n = 1000
	won := duel(agent(tr), set.Mode, n)
	if won < n*58/100 {
		t.Errorf("%d of %d games won against random play", won, n)
	}
}

// duel returns the number of games that an agent wins against random play.
func duel(a *learned.SL, m cards.Mode, n int) (won int) {
	r := rules.NewRand(3)
	src := rules.FastStream(r)
	for i := range n {
		p := new(cards.Position)
		p.Deal(m, m.Rules()[i/2%16], &src)
		for p.Turn() >= 0 {
			legal := p.Legal(nil)
			move := legal[r.Below(len(legal))]
			if p.Turn() == i%2 {
				move, _ = a.Choose(p, legal, false)
			}
			p.Play(move)
		}
		if p.Outcome(i%2) > 0 {
			won++
		}
	}
	return won
}
