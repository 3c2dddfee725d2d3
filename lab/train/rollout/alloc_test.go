//go:build !race

package rollout

import (
	"testing"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

func TestPlayAllocatesNothing(t *testing.T) {
	c := small("tute2")
	m, _ := cards.ParseMode(c.Mode)
	g := newGamePlayer(&c, m, newNet(t, &c))
	p := g.deal(rules.NewRand(1))
	legal := p.Legal(nil)
	g.tryMove(legal[0], p.Turn())
	if allocs := testing.AllocsPerRun(20, func() { g.tryMove(legal[0], p.Turn()) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
