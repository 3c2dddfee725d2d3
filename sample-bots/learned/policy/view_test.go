package policy

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// allKeys has all valid Keys, the ways to distinguish states.
var allKeys = []Keys{
	{Variant: OneState}, {Variant: ManyStates}, {Variant: Abstract, Abstraction: Hand}, {Variant: Abstract, Abstraction: Kinds},
	{Variant: OneState, Alike: true}, {Variant: ManyStates, Alike: true}, {Variant: Abstract, Abstraction: Hand, Alike: true},
}

// walk plays a random game and calls show for each position and its legal moves.
func walk(m cards.Mode, o baraja.TableRules, seed uint64, show func(*cards.Position, []rules.Move)) {
	p, r := new(cards.Position), rules.NewRand(seed)
	src := rules.FastStream(r)
	p.Deal(m, o, &src)
	for p.Turn() != rules.Over {
		legal := p.Legal(nil)
		show(p, legal)
		p.Play(legal[r.Below(len(legal))])
	}
}

// TestViewHasTheMoves checks that each legal move belongs to its action; an action that is a kind has one of
// its cards.
func TestViewHasTheMoves(t *testing.T) {
	for _, mode := range cards.Modes() {
		for n, o := range mode.Rules() {
			for _, k := range allKeys {
				walk(mode, o, uint64(n), func(p *cards.Position, legal []rules.Move) { checkView(t, mode, k, p, legal) })
			}
		}
	}
}

func checkView(t *testing.T, mode cards.Mode, k Keys, p *cards.Position, legal []rules.Move) {
	var s View
	k.Observe(&s, p, legal)
	n := bits.OnesCount64(s.Legal)
	if n == 0 || n > len(legal) || !k.HasKinds() && n != len(legal) {
		t.Fatalf("%v, %+v: %d actions for the moves %v", mode, k, n, legal)
	}
	for set := s.Legal; set != 0; set &= set - 1 {
		action := uint8(bits.TrailingZeros64(set))
		if err := p.State().Check(s.Move(action)); err != nil {
			t.Fatalf("%v, %+v: action %d: %v", mode, k, action, err)
		}
		if !k.HasKinds() && !k.Alike && cards.Action(s.Move(action)) != int(action) {
			t.Fatalf("%v, %+v: action %d is the move %v", mode, k, action, s.Move(action))
		}
	}
	if (s.FallbackKey != 0) != (k.Variant == ManyStates) || k.Variant == ManyStates && s.FallbackKey.Shard() != s.Key.Shard() {
		t.Fatalf("%v, %+v: key %x, abs %x", mode, k, s.Key, s.FallbackKey)
	}
}

// TestAlike checks that positions that differ only in the names of suits other than trumps have the same keys
// and actions if suits are alike, and otherwise do not all have the same keys.
func TestAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom(cards.Modes()).Draw(t, "mode")
		o := rapid.SampledFrom(mode.Rules()).Draw(t, "rules")
		k := rapid.SampledFrom(allKeys).Draw(t, "keys")
		seed := rapid.Uint64().Draw(t, "seed")
		order := rapid.Permutation([]baraja.Suit{0, 1, 2, 3}).Draw(t, "order")
		checkAlike(t, mode, o, k, seed, order)
	})
}

func checkAlike(t *rapid.T, mode cards.Mode, o baraja.TableRules, k Keys, seed uint64, order []baraja.Suit) {
	renamed := func(m rules.Move) rules.Move {
		switch a := cards.Action(m); {
		case a < cards.ExchangeAction:
			c := baraja.Card(m)
			return rules.Move(baraja.CardOf(c.Rank(), order[c.Suit()]))
		case a == cards.ExchangeAction:
			c := baraja.Card(m - baraja.SwapMove)
			return baraja.SwapMove + rules.Move(baraja.CardOf(c.Rank(), order[c.Suit()]))
		default:
			song := m - rules.Move(a-cards.SingAction)
			return song + rules.Move(order[a-cards.SingAction])
		}
	}
	pack := [baraja.TableCards]baraja.Card(baraja.Pack40)
	src := rules.NewStream(rules.Seed{byte(seed), byte(seed >> 8)})
	rules.Shuffle(&src, pack[:])
	other := pack
	for i, c := range pack {
		other[i] = baraja.Card(renamed(rules.Move(c)))
	}
	one, two := new(cards.Position), new(cards.Position)
	one.Layout(mode, o, pack)
	two.Layout(mode, o, other)
	r := rules.NewRand(seed)
	differ, same := false, renamed(0) == 0 && renamed(12) == 12 && renamed(24) == 24
	for one.Turn() != rules.Over {
		var s, u View
		k.Observe(&s, one, one.Legal(nil))
		k.Observe(&u, two, two.Legal(nil))
		equal := s.Key == u.Key && s.FallbackKey == u.FallbackKey && s.Legal == u.Legal
		if differ = differ || !equal; !equal && (same || k.Alike || k.HasKinds()) {
			t.Fatalf("%v %+v, ply %d\n%s\n%s", mode, k, one.Board().Plies, one.Board().View(nil, one.Turn()), two.Board().View(nil, two.Turn()))
		}
		legal := one.Legal(nil)
		m := legal[r.Below(len(legal))]
		one.Play(m)
		two.Play(renamed(m))
	}
	// A game that ends early may have shown too few cards to differ.
	if told := !(same || k.Alike || k.HasKinds()); differ && !told || told && !differ && one.Board().Plies >= baraja.TableCards/2 {
		t.Fatalf("%v %+v: suits are told apart: %t", mode, k, differ)
	}
}

// TestKeysHave checks what the keys of the variants contain and what not.
func TestKeysHave(t *testing.T) {
	base := keyParts{hand: 0b111, playedCards: 0b11000, trick: [3]uint8{5, noCard, noCard}, trump: 8, rules: 2}
	for _, c := range []struct {
		what     string
		change   func(*keyParts)
		variants string // those whose keys differ
	}{
		{"hand", func(w *keyParts) { w.hand = 0b1011 }, "os ms as"},
		{"trump card", func(w *keyParts) { w.trump = 9 }, "os ms as"},
		{"trick", func(w *keyParts) { w.trick[0] = 6 }, "os ms as"},
		{"order of the trick", func(w *keyParts) { w.trick[0], w.trick[1] = noCard, 5 }, "os ms as"},
		{"cards seen", func(w *keyParts) { w.playedCards = 0b1000 }, "os ms"},
		{"songs", func(w *keyParts) { w.songs[1] = 4 }, "os ms"},
		{"whose songs", func(w *keyParts) { w.songs[2] = 4 }, "os ms"},
		{"rules", func(w *keyParts) { w.rules = 3 }, "os ms"},
		{"points", func(w *keyParts) { w.points[0] = 1 }, "os"},
		{"whose points", func(w *keyParts) { w.points[3] = 2 }, "os"},
	} {
		changed := base
		c.change(&changed)
		told := ""
		for _, v := range Variants() {
			if base.key(v) != changed.key(v) {
				told += " " + v
			}
		}
		if told != " "+c.variants {
			t.Errorf("%s: told by%s, not by %s", c.what, told, c.variants)
		}
	}
}

// TestKinds checks the kinds of a hand that leads and of one that follows.
func TestKinds(t *testing.T) {
	var p cards.Position
	mode := cards.Mode{Players: 2}
	pack := cardsFirst(t, "1o", "2o", "3o", "4o", "12c", "7e", "5b") // hands 1o 3o 12c and 2o 4o 7e, trump 5b
	p.Layout(mode, mode.Rules()[0], pack)
	var s View
	allKeys[3].Observe(&s, &p, p.Legal(nil))
	// The 1 of oros is high, and with it in hand the 3, too; the 12 of copas is not.
	wantKinds(t, &s, map[int]string{4*5 + 1: "1o", 4*4 + 1: "3o", 4 * 2: "12c"})
	p.Play(rules.Move(card(t, "3o")))
	allKeys[3].Observe(&s, &p, p.Legal(nil))
	wantKinds(t, &s, map[int]string{0: "2o"}) // nothing takes it, and 2o is weaker than 4o and 7e
}

func wantKinds(t *testing.T, s *View, want map[int]string) {
	t.Helper()
	if bits.OnesCount64(s.Legal) != len(want) {
		t.Errorf("kinds %b, not %v", s.Legal, want)
	}
	for kind, name := range want {
		if s.Legal>>kind&1 == 0 || s.Move(uint8(kind)) != rules.Move(card(t, name)) {
			t.Errorf("kind %d of %b is %v, not %s", kind, s.Legal, s.Move(uint8(kind)), name)
		}
	}
}

func card(t *testing.T, name string) baraja.Card {
	t.Helper()
	return kit.Get[baraja.Card](t)(baraja.Parse(name))
}

// cardsFirst returns a pack that begins with the given cards.
func cardsFirst(t *testing.T, names ...string) (pack [baraja.TableCards]baraja.Card) {
	t.Helper()
	var set baraja.Set
	n := 0
	for _, name := range names {
		pack[n] = card(t, name)
		set = set.With(pack[n])
		n++
	}
	for _, c := range baraja.Pack40 {
		if !set.Has(c) {
			pack[n] = c
			n++
		}
	}
	return pack
}

func TestLookAllocatesNothing(t *testing.T) {
	for _, k := range allKeys {
		walk(cards.Mode{Tute: true, Players: 4}, cards.Mode{Tute: true, Players: 4}.Rules()[0], 3, func(p *cards.Position, legal []rules.Move) {
			if p.State().Ply() != 20 {
				return
			}
			var s View
			if n := testing.AllocsPerRun(10, func() { k.Observe(&s, p, legal) }); n > 0 {
				t.Errorf("%+v: %v allocations", k, n)
			}
		})
	}
}

// TestWidth checks that a policy stores as many bytes of its keys as its number of states needs.
func TestWidth(t *testing.T) {
	for states, want := range map[int]int{0: 3, 1 << 20: 3, 1<<20 + 1: 4, 1 << 28: 4, 1<<28 + 1: 5, 1 << 40: 5} {
		if width := widthOf(states); width != want {
			t.Errorf("%d states: keys of %d bytes, not %d", states, width, want)
		}
	}
}
