package tute

import (
	"math/bits"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// Playout makes random legal moves, each as likely as the others, to the end:
// a draw below their number picks one of them in the order of Legal.
func (s *State) Playout(r *rules.Rand) {
	for s.Mover >= 0 {
		if s.Choice != 0 {
			k := r.Below(bits.OnesCount8(s.Choice))
			suit := pick(baraja.Set(s.Choice), k).First()
			s.Apply(SingMove+rules.Move(suit), nil)
			continue
		}
		playable := s.Playable()
		cards := playable.Len()
		var swap baraja.Set // no more than one is possible at a time
		if s.rules.Exchange {
			swap = s.Swaps()
		}
		k := r.Below(cards + swap.Len())
		if k == cards {
			s.Apply(baraja.SwapMove+rules.Move(swap.First()), nil)
			continue
		}
		s.Plies++
		if s.Put(pick(playable, k).First()) {
			s.finishTrick(nil)
		}
	}
}

// pick drops the k lowest members of a set, at most seven. It has no branch, for
// random play would make the processor guess wrong: s & (s-1) is s without its
// lowest member, and s & (s-0) is s.
func pick(s baraja.Set, k int) baraja.Set {
	n := baraja.Set(k)
	s &= s - (n+7)>>3
	s &= s - (n+6)>>3
	s &= s - (n+5)>>3
	s &= s - (n+4)>>3
	s &= s - (n+3)>>3
	s &= s - (n+2)>>3
	return s & (s - (n+1)>>3)
}
