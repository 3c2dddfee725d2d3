package brisca

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// TestBriscaFromViewReach checks that every arrangement of the hidden cards, in the other hands and in the
// stock, is equally likely.
func TestBriscaFromViewReach(t *testing.T) {
	seeds := 4
	if kit.Soak {
		seeds = 20
	}
	for _, c := range []struct {
		about  string
		rules  Rules
		played int // number of cards played
	}{
		{"two hands of two", Rules{Players: 3}, 33},
		{"a hand of three and a card of the stock", Rules{Players: 2}, 32},
		{"three hands of two", Rules{Players: 4, Teams: true}, 32},
		{"two hands of two, one with the trump card", Rules{Players: 3, Without2: true}, 33},
		{"known cards stay", Rules{Players: 2, Exchange: true}, 30},
		{"no black hand", Rules{Players: 3, BlackHand: true}, 30},
	} {
		for seed := range uint64(seeds) {
			r := rules.NewRand(seed)
			stream := rules.FastStream(r)
			v := newVariant(Game, nil, c.rules)
			s := v.Deal(&stream).(*State)
			for s.Turn() >= 0 && int(s.PlayedCount) < c.played {
				legal := s.Legal(nil)
				s.Apply(legal[len(legal)-1-r.Below(len(legal))/2], nil)
			}
			if s.Turn() < 0 {
				continue
			}
			seat := s.Turn()
			want := arrangements(s, seat)
			const each = 100
			seen := map[State]int{}
			for range each * want {
				made := kit.Get[rules.State](t)(v.FromView(rules.Observe(s, seat), r))
				seen[*made.(*State)]++
			}
			if len(seen) != want {
				t.Fatalf("%s: %d of %d come: %s", c.about, len(seen), want, s.View(nil, seat))
			}
			for _, got := range seen {
				if got < each/2 || got > each*2 {
					t.Errorf("%s: one of %d comes %d times, not about %d", c.about, want, got, each)
				}
			}
		}
	}
}

// arrangements counts the arrangements of the cards that a seat does not see by trying all: the hands with
// their sizes, and the stock in its order.
func arrangements(s *State, seat int) (n int) {
	var free baraja.Set
	c := *s
	for p := range c.Hands {
		if p != seat {
			free |= s.Hands[p] &^ s.KnownCards[p]
			c.Hands[p] &= s.KnownCards[p]
		}
	}
	stock := 0
	if s.TrumpOnTable() {
		stock = int(s.Size) - 1 - int(s.NextDraw)
		free |= baraja.SetOf(s.Pack[s.NextDraw : s.Size-1])
	}
	var give func(free baraja.Set, stock, ways int)
	give = func(free baraja.Set, stock, ways int) {
		if free == 0 {
			if black := baraja.SetOf([]baraja.Card{baraja.CardOf(1, c.Trumps()), baraja.CardOf(3, c.Trumps()), baraja.CardOf(12, c.Trumps())}); c.rules.BlackHand {
				for p := range c.Hands {
					if black&^c.HandAndTrickCard(p) == 0 {
						return
					}
				}
			}
			n += ways
			return
		}
		if stock > 0 {
			give(free&(free-1), stock-1, ways*stock)
		}
		for p := range c.Hands {
			if p != seat && c.Hands[p].Len() < s.Hands[p].Len() {
				c.Hands[p] = c.Hands[p].With(free.First())
				give(free&(free-1), stock, ways)
				c.Hands[p] = c.Hands[p].Without(free.First())
			}
		}
	}
	give(free, stock, 1)
	return n
}
