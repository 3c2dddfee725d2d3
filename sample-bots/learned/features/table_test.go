package features

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// TestTablePosition encodes the position of TestScaledPosition: seat 0 has led the 3 of copas; seat 1 holds
// 1o, 2o and 12b; the trump card is the 7 of espadas; exchange and hunt3 are on. Espadas come first, copas
// were led, and of the other suits oros have the strongest card in hand.
func TestTablePosition(t *testing.T) {
	m := kit.Get[cards.Mode](t)(cards.ParseMode("brisca2"))
	p := first(t, m, m.Rules()[0b1001], "3c 1o 4o 2o 5o 12b 7e")
	p.Play(rules.Move(baraja.CardOf(3, 1)))
	e := NewCompleteEncoder(m)
	ones, places := e.Append(nil, p)
	if want := (Places{2, 1, 0, 3}); places != want { // oros, copas, espadas, bastos
		t.Errorf("places %v, not %v", places, want)
	}
	want := []uint16{
		4,                         // the 7 is the fifth of the strengths
		10 + 12,                   // 3c in the trick
		50 + 20, 50 + 21, 50 + 39, // 1o, 2o, 12b; none of them takes the trick
		130 + 12,      // 3c is played
		210 + 17,      // all draws are left
		228, 228 + 33, // no points
		294, 294 + 3, // hunt3 and exchange
	}
	if !slices.Equal(ones, want) {
		t.Errorf("inputs %v, not %v", ones, want)
	}
	if e.Inputs() != 298 {
		t.Errorf("%d inputs", e.Inputs())
	}
}

// TestTableBounds checks in random games that inputs are in range, set once, and independent of hidden cards,
// and that outputs are in range and different for the legal moves.
func TestTableBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(cards.Modes()).Draw(t, "mode")
		r := rules.NewRand(rapid.Uint64().Draw(t, "seed"))
		tableBounds(t, m, r)
	})
}

func tableBounds(t *rapid.T, m cards.Mode, r *rules.Rand) {
	p := new(cards.Position)
	src := rules.FastStream(r)
	list := m.Rules()
	p.Deal(m, list[r.Below(len(list))], &src)
	e := NewCompleteEncoder(m)
	for p.Turn() >= 0 {
		ones, places := e.Append(nil, p)
		if slices.Max(ones) >= uint16(e.Inputs()) {
			t.Fatalf("%v: inputs %v of %d", m, ones, e.Inputs())
		}
		slices.Sort(ones)
		if len(slices.Compact(slices.Clone(ones))) != len(ones) {
			t.Fatalf("%v: an input is set twice: %v", m, ones)
		}
		other := *p
		other.Redeal(p.Turn(), r)
		hidden, _ := e.Append(nil, &other)
		if slices.Sort(hidden); !slices.Equal(hidden, ones) {
			t.Fatalf("%v: hidden cards change the inputs from %v to %v", m, ones, hidden)
		}
		legal := p.Legal(nil)
		var outputs []int
		for _, move := range legal {
			output := places.Output(cards.Action(move))
			if output < 0 || output >= m.Actions() || slices.Contains(outputs, output) {
				t.Fatalf("%v: output %d of %d beside %v", m, output, m.Actions(), outputs)
			}
			outputs = append(outputs, output)
		}
		p.Play(legal[r.Below(len(legal))])
	}
}

// TestTableSuits checks that positions that differ only in the names of suits have the same inputs, and that
// the same move has the same output.
func TestTableSuits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(cards.Modes()).Draw(t, "mode")
		r := rules.NewRand(rapid.Uint64().Draw(t, "seed"))
		names := rapid.Permutation([]baraja.Suit{0, 1, 2, 3}).Draw(t, "names")
		renamed(t, m, names, r)
	})
}

func renamed(t *rapid.T, m cards.Mode, names []baraja.Suit, r *rules.Rand) {
	pack := [baraja.TableCards]baraja.Card(baraja.Pack40)
	src := rules.FastStream(r)
	rules.Shuffle(&src, pack[:])
	other := pack
	rename := func(c baraja.Card) baraja.Card { return baraja.CardOf(c.Rank(), names[c.Suit()]) }
	for i, c := range other {
		other[i] = rename(c)
	}
	p, q := new(cards.Position), new(cards.Position)
	p.Layout(m, m.Rules()[0], pack)
	q.Layout(m, m.Rules()[0], other)
	e := NewCompleteEncoder(m)
	for p.Turn() >= 0 {
		a, from := e.Append(nil, p)
		b, to := e.Append(nil, q)
		slices.Sort(a)
		slices.Sort(b)
		// Suits without any card in hand or played are alike except for their names, so only their places may
		// be swapped.
		if !slices.Equal(a, b) && distinct(p) {
			t.Fatalf("%v: inputs %v, renamed %v", m, a, b)
		}
		legal := p.Legal(nil)
		move := legal[r.Below(len(legal))]
		same := move
		if move < baraja.SwapMove {
			same = rules.Move(rename(baraja.Card(move)))
		} else if cards.Action(move) >= cards.SingAction {
			same = cards.SongMove(cards.SingAction + int(names[cards.Action(move)-cards.SingAction]))
		}
		if from.Output(cards.Action(move)) != to.Output(cards.Action(same)) && distinct(p) {
			t.Fatalf("%v: output %d, renamed %d", m, from.Output(cards.Action(move)), to.Output(cards.Action(same)))
		}
		p.Play(move)
		q.Play(same)
	}
}

// distinct reports whether all suits differ in the hand of the seat to move or in the played cards.
func distinct(p *cards.Position) bool {
	hand := p.Board().Hands[p.Turn()]
	seen := map[string]bool{}
	for suit := range baraja.Suit(suits) {
		bits := func(s baraja.Set) uint64 { return cards.Bits40(s) >> (ranks * int(suit)) & (1<<ranks - 1) }
		key := fmt.Sprint(bits(hand), bits(p.History.PlayedCards))
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}
