package tute

import (
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/baraja/barajatest"
)

// words returns the cards of a set in the form that the naive game uses.
func words(s baraja.Set) []string {
	if s == 0 {
		return nil
	}
	return strings.Split(string(s.Text(nil)), ",")
}

// canBe reports whether a game without a stock and an exchange can reach a position by the naive rules: every
// card since the last draw was legal, and every declaration was mandatory.
func canBe(s *State) bool {
	players := int(s.Players)
	g := &naive{Naive: &barajatest.Naive{Option: map[string]string{"followonly": "no"}, Seats: players, Trump: s.Trump.String()}}
	if s.rules.FollowOnly {
		g.Option["followonly"] = "yes"
	}
	type act struct {
		seat  int
		trick []string
		card  string
	}
	var acts []act
	for i, c := range s.Pack[:s.PlayedCount] {
		seat := (g.Leader + len(g.Trick)) % players
		if i/players >= (40-handCards*players)/players {
			acts = append(acts, act{seat, g.Trick, c.String()})
		}
		g.Trick = append(slices.Clone(g.Trick), c.String())
		if len(g.Trick) == players {
			g.Leader, g.Trick = (g.Leader+g.Winner())%players, nil
		}
	}
	for seat := range players {
		g.Hands = append(g.Hands, words(s.HandAndTrickCard(seat)))
		var can []string
		for _, suit := range []string{"o", "c", "e", "b"} {
			if g.holds(seat, suit) && s.SungSuits>>strings.Index(baraja.Suits, suit)&1 == 0 {
				can = append(can, suit)
			}
		}
		if slices.Contains(can, barajatest.Suit(g.Trump)) {
			can = []string{barajatest.Suit(g.Trump)}
		}
		if suit, ok := s.DeclaredBy(seat); ok != (len(can) > 0) || ok && !slices.Contains(can, suit.String()) {
			return false
		}
	}
	hands := make([][]string, players)
	for seat := range players {
		hands[seat] = words(s.Hands[seat])
	}
	for _, a := range slices.Backward(acts) {
		hands[a.seat] = append(hands[a.seat], a.card)
		g.Trick = a.trick
		if !slices.Contains(g.playable(hands[a.seat]), a.card) {
			return false
		}
	}
	return true
}

// TestTuteFromViewReach checks, near the end of games of four, that all arrangements of the hidden cards that
// the naive rules allow, and no others, are about equally likely.
func TestTuteFromViewReach(t *testing.T) {
	counted := 0
	for n := uint64(0); counted < 40; n++ {
		v := newVariant(Game, nil, Rules{baraja.TableRules{Players: 4}, n%4 == 0})
		rand := rules.NewRand(n)
		stream := rules.FastStream(rand)
		s := v.Deal(&stream).(*State)
		for s.Turn() >= 0 && s.PlayedCount < 32 {
			legal := s.Legal(nil)
			s.Apply(legal[rand.Below(len(legal))], nil)
		}
		if s.Turn() < 0 || s.SongChoice != 0 {
			continue
		}
		if !canBe(s) {
			t.Fatalf("seed %d: the real hands cannot be", n)
		}
		all := arrangements(s, s.Turn())
		if len(all) < 2 || len(all) == 90 {
			continue
		}
		counted++
		const each = 200
		seen := map[[baraja.TableSeats]baraja.Set]int{}
		for range each * len(all) {
			made := kit.Get[rules.State](t)(v.FromView(rules.Observe(s, s.Turn()), rand))
			seen[made.(*State).Hands]++
		}
		if len(seen) != len(all) {
			t.Fatalf("seed %d: %d of %d arrangements come", n, len(seen), len(all))
		}
		for _, hands := range all {
			if got := seen[hands]; got < each/2 || got > each*2 {
				t.Errorf("seed %d: one of %d arrangements comes %d times, not about %d", n, len(all), got, each)
			}
		}
	}
}

// arrangements lists all arrangements of the cards that a seat does not see in the other hands, by trying all.
func arrangements(s *State, seat int) (all [][baraja.TableSeats]baraja.Set) {
	var free baraja.Set
	c := *s
	for p := range c.Hands {
		if p != seat {
			free |= s.Hands[p] &^ s.KnownCards[p]
			c.Hands[p] &= s.KnownCards[p]
		}
	}
	var give func(free baraja.Set)
	give = func(free baraja.Set) {
		if free == 0 {
			if canBe(&c) {
				all = append(all, c.Hands)
			}
			return
		}
		for p := range c.Hands {
			if p != seat && c.Hands[p].Len() < s.Hands[p].Len() {
				c.Hands[p] = c.Hands[p].With(free.First())
				give(free & (free - 1))
				c.Hands[p] = c.Hands[p].Without(free.First())
			}
		}
	}
	give(free)
	return all
}

// TestTuteEveryPositionIsPossible checks that every real position is possible for the engine, and that hands
// do not hold the cards that Lacks excludes.
func TestTuteEveryPositionIsPossible(t *testing.T) {
	r, lacks := rules.NewRand(1), 0
	for _, v := range everyVariant(t) {
		for range 20 {
			var s State
			for s.Layout(v.Rules.(Rules), shuffled(v, r)); s.Turn() >= 0; {
				if c := s; !c.possible() || c != s {
					t.Fatalf("%s: %s", v.Settings, s.View(nil, 0))
				}
				for seat, cannot := range s.cannotHold() {
					if bad := s.Hands[seat] &^ s.KnownCards[seat] & cannot; bad != 0 {
						t.Fatalf("%s: seat %d has %s: %s", v.Settings, seat, bad.Text(nil), s.View(nil, seat))
					}
				}
				for observer := range int(s.Players) {
					for _, l := range s.Lacks(nil, observer) {
						if has := s.Hands[l.Seat] &^ s.KnownCards[l.Seat] & l.Cards; has.Len() > l.MaxUnknown || l.Seat == observer {
							t.Fatalf("%s: seat %d has %s, more than %d: %s", v.Settings, l.Seat, has.Text(nil), l.MaxUnknown, s.View(nil, observer))
						}
						lacks++
					}
				}
				legal := s.Legal(nil)
				s.Apply(legal[r.Below(len(legal))], nil)
			}
		}
	}
	if lacks < 1000 {
		t.Errorf("%d times a hand has shown what it lacks", lacks)
	}
}

// TestTuteFromViewTaken checks that with three seats, where the trump card lies on the table to the end, a
// seat may take it after showing that it has no trump so high.
func TestTuteFromViewTaken(t *testing.T) {
	v := kit.Get[*rules.Variant](t)(Game.Resolve(map[string]string{"players": "3", "exchange": "yes"}))
	o := rules.Observation{Seat: 2, Turn: 2, Ply: 33, Moves: []byte("10e"), View: []byte("hand=7c,10e,11b trump=2c stock=0 leader=1 trick=6e points=26,27,35 " +
		"played=6o,1o,12o,5o,4c,10o,1b,6b,12b,7o,3o,11o,2o,5c,11c,5b,2b,3b,7e,11e,3e,4o,6c,2e,4e,1e,12e,7b,4b,10b leaders=0,1,2,2,0,2,1,0,1,2 " +
		"known=3c/-/7c declared=-,-,- sung=-")}
	if _, err := v.FromView(o, rules.NewRand(1)); err != nil {
		t.Error(err)
	}
}

// TestTuteFromViewOrder checks that, while a seat is choosing a song, the seats after it have not declared
// one in any redeal.
func TestTuteFromViewOrder(t *testing.T) {
	v := kit.Get[*rules.Variant](t)(Game.Resolve(map[string]string{"players": "2"}))
	o := rules.Observation{Seat: 1, Turn: 0, Ply: 4, View: []byte("hand=5o,1c,7c,10c,11c,12c,12e,2b trump=2e stock=20 leader=0 trick=- points=21,0 " +
		"played=1b,5b,3o,6o leaders=0,0 known=-/11c,12c declared=-,c sung=-")}
	r := rules.NewRand(1)
	for range 2000 {
		if s := kit.Get[rules.State](t)(v.FromView(o, r)).(*State); s.SongChoice != 0 {
			t.Fatalf("seat 0 is choosing: %s", s.View(nil, 0))
		}
	}
}
