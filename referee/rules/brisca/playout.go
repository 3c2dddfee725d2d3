package brisca

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// Playout makes random legal moves, each as likely as the others, to the end:
// a draw below their number picks one of them in the order of Legal.
func (s *State) Playout(r *rules.Rand) {
	duel := s.rules == Rules{Players: 2, Last10: s.rules.Last10}
	for s.Mover >= 0 {
		if duel && s.InTrick == 0 {
			s.playDuel(r)
			return
		}
		hand := s.Hands[s.Mover]
		cards := hand.Len()
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
		if s.Put(pick(hand, k).First()) {
			s.finishTrick(nil)
		}
	}
}

// pick drops the k lowest cards, at most two, from a hand. It has no branch, for
// random play would make the processor guess wrong: s & (s-1) is s without its
// lowest card, and s & (s-0) is s.
func pick(hand baraja.Set, k int) baraja.Set {
	hand &= hand - baraja.Set(k+1)>>1
	return hand & (hand - baraja.Set(k)>>1)
}

// playDuel is Playout for two players from the start of a trick, when no option
// needs a look between the moves: the same draws lead to the same end, with the
// position held in local variables and a trick decided by arithmetic.
func (s *State) playDuel(r *rules.Rand) {
	q := *r
	trumps := s.Trumps()
	leader := uint64(s.Leader & 1)
	own, his := s.Hands[leader], s.Hands[leader^1] // the leader's hand, the other's
	size := own.Len()
	played, next := int(s.Played), int(s.Next)
	points := int(s.Points[1])
	sum := int(s.Points[0]) + points
	var a, b baraja.Card
	var won uint64 // 1 when the other seat wins the trick
	for {
		x, y := pick(own, q.Below(size)), pick(his, q.Below(size))
		a, b = x.First(), y.First()
		own &^= x & -x
		his &^= y & -y
		s.Pack[played], s.Pack[played+1] = a, b
		played += 2
		won = uint64(baraja.Beats(trumps, a)>>(b&63)) & 1
		// Exchange the hands when the lead passes.
		flip := (own ^ his) & -baraja.Set(won)
		own ^= flip
		his ^= flip
		leader ^= won
		pot := baraja.Value(a) + baraja.Value(b)
		sum += pot
		points += pot & -int(leader)
		if next < baraja.TableCards {
			own |= 1 << (s.Pack[next] & 63)
			his |= 1 << (s.Pack[next+1] & 63)
			next += 2
		} else if size--; size == 0 {
			break
		}
	}
	*r = q
	if s.rules.Last10 {
		sum += baraja.LastBonus
		points += baraja.LastBonus & -int(leader)
	}
	s.Best = a
	if won != 0 {
		s.Best = b
	}
	s.Hands, s.Known = [baraja.TableSeats]baraja.Set{}, [baraja.TableSeats]baraja.Set{}
	s.Points[0], s.Points[1] = int16(sum-points), int16(points)
	s.Plies += uint16(played - int(s.Played))
	s.Played, s.Next = uint8(played), uint8(next)
	s.Leader, s.Winner, s.Mover = uint8(leader), uint8(leader), rules.Over
}
