package podrida

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// texts returns the cards of a set in the form that the naive game uses.
func texts(s baraja.Set) []string {
	if s == 0 {
		return nil
	}
	return strings.Split(string(s.Text(nil)), ",")
}

// possible replays a round by the naive rules, from the hands that must have been dealt. It returns an error
// if a card was not legal.
func possible(s *State) error {
	trump := s.trumpCard.Suit().String()
	seat := int(s.next(s.dealer))
	players := int(s.rules.Players)
	hands := map[int][]string{}
	for p := range players {
		hands[p] = texts(s.hands[p])
	}
	// act is a card that a seat played.
	type act struct {
		seat  int
		trick []string
		card  string
	}
	var acts []act
	var trick []string
	for _, c := range s.playedCards[:s.playedCount] {
		acts = append(acts, act{seat, slices.Clone(trick), c.String()})
		hands[seat] = append(hands[seat], c.String())
		trick = append(trick, c.String())
		seat = (seat + 1) % players
		if len(trick) == players {
			seat = (seat + winning(trick, trump)) % players
			trick = nil
		}
	}
	for _, a := range acts {
		if !slices.Contains(mayPlay(hands[a.seat], a.trick, trump), a.card) {
			return fmt.Errorf("seat %d could not have played %s on %v from %v", a.seat, a.card, a.trick, hands[a.seat])
		}
		hands[a.seat] = keep(hands[a.seat], func(c string) bool { return c != a.card })
	}
	return nil
}

// TestPodridaRedealIsPossible checks that a redeal moves only hidden cards, to hands that the cards played allow.
func TestPodridaRedealIsPossible(t *testing.T) {
	moved := 0
	for _, r := range everyRules() {
		rand := rules.NewRand(uint64(r.Players))
		stream := rules.FastStream(rand)
		var s State
		s.Deal(r, &stream)
		for s.turn >= 0 {
			seat := rand.Below(int(r.Players))
			c := s
			c.Redeal(seat, rand)
			if c.stream == s.stream {
				t.Fatal("the coming rounds are dealt from the same stream")
			}
			if err := possible(&c); err != nil {
				t.Fatalf("%+v, ply %d: %v", r, s.ply, err)
			}
			var all baraja.Set
			for p := range int(r.Players) {
				if c.hands[p].Len() != s.hands[p].Len() || all&c.hands[p] != 0 {
					t.Fatalf("%+v, ply %d: seat %d's hand of %s becomes %s", r, s.ply, p, s.hands[p].Text(nil), c.hands[p].Text(nil))
				}
				all |= c.hands[p]
			}
			if c.hands != s.hands {
				moved++
			}
			if bad := all & set(s.playedCards[:s.playedCount]); bad != 0 {
				t.Fatalf("%+v, ply %d: %s are dealt again", r, s.ply, bad.Text(nil))
			}
			c.stream, c.hands = s.stream, s.hands
			if c != s {
				t.Fatalf("%+v, ply %d: a redeal changes more than hands and stream", r, s.ply)
			}
			legal := s.Legal(nil)
			s.Apply(legal[rand.Below(len(legal))], nil)
		}
	}
	if moved < 1000 {
		t.Errorf("only %d redeals moved a card", moved)
	}
}

// TestPodridaRedealIsEven checks that every deal that the cards played allow is about equally likely, whatever the
// actual deal is. It uses rounds that use up the pack, near their end, because these have few possible deals.
func TestPodridaRedealIsEven(t *testing.T) {
	positions := 3
	if kit.Soak {
		positions = 12
	}
	t.Run("redeal", func(t *testing.T) {
		countDeals(t, positions, func(s *State, r *rules.Rand) { s.Redeal(0, r) })
	})
	t.Run("from view", func(t *testing.T) {
		countDeals(t, positions, func(s *State, r *rules.Rand) {
			made := kit.Get[rules.State](t)(newVariant(Game, nil, s.rules).FromView(rules.Observe(s, 0), r))
			*s = *made.(*State)
		})
	})
	t.Run("constructed", func(t *testing.T) {
		countDeals(t, positions, func(s *State, r *rules.Rand) {
			h := s.takeHidden(0, Failures)
			h.Construct(r)
			h.AddToHands(s.hands[:])
		})
	})
}

func countDeals(t *testing.T, positions int, redeal func(*State, *rules.Rand)) {
	counted := 0 // positions; the first seeds give enough of them
	for n := uint64(0); counted < positions; n++ {
		rand := rules.NewRand(n)
		stream := rules.FastStream(rand)
		var s State
		s.dealRound(Rules{Players: 4, Deck: 40}, 10, &stream)
		for s.playedCount < 8*4 {
			legal := s.Legal(nil)
			s.Apply(legal[rand.Below(len(legal))], nil)
		}
		deals := allDeals(s, 0)
		if len(deals) < 4 || len(deals) == 90 {
			continue // there is no choice, or nothing is ruled out
		}
		counted++
		const each = 400 // with a standard deviation of 20
		seen := map[[maxSeats]baraja.Set]int{}
		for range each * len(deals) {
			c := s
			redeal(&c, rand)
			seen[c.hands]++
		}
		if len(seen) != len(deals) {
			t.Fatalf("seed %d: %d of %d deals come out", n, len(seen), len(deals))
		}
		for hands, got := range seen {
			if got < each*7/10 || got > each*13/10 {
				t.Errorf("seed %d: one of %d deals comes out %d times, not about %d: %v", n, len(deals), got, each, hands[:4])
			}
		}
	}
}

// allDeals lists all deals of two cards each to seats 1 to 3 that the cards played allow, by trying all.
func allDeals(s State, seat int) (deals [][maxSeats]baraja.Set) {
	var free []baraja.Card
	for p := range int(s.rules.Players) {
		for set := s.hands[p]; p != seat && set != 0; set &= set - 1 {
			free = append(free, set.First())
		}
	}
	var give func(i int, c State)
	give = func(i int, c State) {
		if i < len(free) {
			for p := range int(s.rules.Players) {
				if p != seat && c.hands[p].Len() < s.hands[p].Len() {
					d := c
					d.hands[p] = d.hands[p].With(free[i])
					give(i+1, d)
				}
			}
			return
		}
		shown := c.hands[c.dealer].Has(c.trumpCard) == s.hands[s.dealer].Has(s.trumpCard)
		if shown && possible(&c) == nil {
			deals = append(deals, c.hands)
		}
	}
	c := s
	for p := range int(s.rules.Players) {
		if p != seat {
			c.hands[p] = 0
		}
	}
	give(0, c)
	return deals
}
