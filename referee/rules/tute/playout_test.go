package tute

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
)

// From any position, Playout is picking from the legal moves with the same draws.
func TestTutePlayout(t *testing.T) {
	r := rules.NewRand(1)
	for _, v := range everyVariant() {
		for range 50 {
			s := newBoth(v, shuffled(v, r)).fast
			var legal []rules.Move
			for n := r.Below(48); n > 0 && s.Turn() != rules.Over; n-- {
				legal = s.Legal(legal[:0])
				s.Apply(legal[r.Below(len(legal))], nil)
			}
			if r.Below(2) == 0 {
				s.Redeal(r.Below(v.Players()), r)
			}
			slow, draws := s, *r
			for slow.Turn() != rules.Over {
				legal = slow.Legal(legal[:0])
				slow.Apply(legal[draws.Below(len(legal))], nil)
			}
			fast := s
			fast.Playout(r)
			if fast != slow || *r != draws {
				t.Fatalf("%s: from ply %d Playout ends otherwise:\n%s\n%s", v.Settings(), s.Ply(), fast.View(nil, 0), slow.View(nil, 0))
			}
		}
	}
}
