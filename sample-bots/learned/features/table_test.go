package features

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// The position of TestScaledPosition: seat 0 has led the 3 of copas; seat 1 holds 1o, 2o and 12b;
// the trump card is the 7 of espadas; exchange and hunt3 are on. Espadas come first, copas were
// led, and of the others oros have the strongest card in hand.
func TestTablePosition(t *testing.T) {
	m := kit.Get[cards.Mode](t)(cards.ParseMode("brisca2"))
	p := first[cards.Brisca](t, m, m.Rules()[0b1001], "3c 1o 4o 2o 5o 12b 7e")
	var w cards.Watch
	cards.Step(p, &w, rules.Move(baraja.Of(3, 1)))
	e := NewTable(m)
	ones, places := AppendTable(&e, nil, p, &w)
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

// In random games every input is below the number of inputs, set once, and the same whatever the
// hidden cards are; outputs are below the number of actions and different for the legal moves.
func TestTableBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(cards.Modes()).Draw(t, "mode")
		r := rules.NewRand(rapid.Uint64().Draw(t, "seed"))
		if m.Tute {
			tableBounds[cards.Tute](t, m, r)
		} else {
			tableBounds[cards.Brisca](t, m, r)
		}
	})
}

func tableBounds[S any, P cards.Position[S]](t *rapid.T, m cards.Mode, r *rules.Rand) {
	p, w := P(new(S)), cards.Watch{}
	src := rules.FastStream(r)
	list := m.Rules()
	p.Begin(m, list[r.Below(len(list))], &src)
	e := NewTable(m)
	for p.Turn() >= 0 {
		ones, places := AppendTable[S, P](&e, nil, p, &w)
		if slices.Max(ones) >= uint16(e.Inputs()) {
			t.Fatalf("%v: inputs %v of %d", m, ones, e.Inputs())
		}
		slices.Sort(ones)
		if len(slices.Compact(slices.Clone(ones))) != len(ones) {
			t.Fatalf("%v: an input is set twice: %v", m, ones)
		}
		other := *p
		P(&other).Redeal(p.Turn(), r)
		hidden, _ := AppendTable[S, P](&e, nil, &other, &w)
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
		cards.Step[S, P](p, &w, legal[r.Below(len(legal))])
	}
}

// Positions that differ only in the names of the suits have the same inputs, and the same move has
// the same output.
func TestTableSuits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(cards.Modes()).Draw(t, "mode")
		r := rules.NewRand(rapid.Uint64().Draw(t, "seed"))
		names := rapid.Permutation([]baraja.Suit{0, 1, 2, 3}).Draw(t, "names")
		if m.Tute {
			renamed[cards.Tute](t, m, names, r)
		} else {
			renamed[cards.Brisca](t, m, names, r)
		}
	})
}

func renamed[S any, P cards.Position[S]](t *rapid.T, m cards.Mode, names []baraja.Suit, r *rules.Rand) {
	pack := [baraja.TableCards]baraja.Card(baraja.Pack40)
	src := rules.FastStream(r)
	rules.Shuffle(&src, pack[:])
	other := pack
	rename := func(c baraja.Card) baraja.Card { return baraja.Of(c.Rank(), names[c.Suit()]) }
	for i, c := range other {
		other[i] = rename(c)
	}
	p, q, v, w := P(new(S)), P(new(S)), cards.Watch{}, cards.Watch{}
	p.Layout(m, m.Rules()[0], pack)
	q.Layout(m, m.Rules()[0], other)
	e := NewTable(m)
	for p.Turn() >= 0 {
		a, from := AppendTable[S, P](&e, nil, p, &v)
		b, to := AppendTable[S, P](&e, nil, q, &w)
		slices.Sort(a)
		slices.Sort(b)
		// Suits of which nothing is in hand or played are alike, but not by their names: only their
		// places may be exchanged.
		if !slices.Equal(a, b) && distinct(p, &v) {
			t.Fatalf("%v: inputs %v, renamed %v", m, a, b)
		}
		legal := p.Legal(nil)
		move := legal[r.Below(len(legal))]
		same := move
		if move < baraja.SwapMove {
			same = rules.Move(rename(baraja.Card(move)))
		} else if cards.Action(move) >= cards.Sing {
			same = cards.SongMove(cards.Sing + int(names[cards.Action(move)-cards.Sing]))
		}
		if from.Output(cards.Action(move)) != to.Output(cards.Action(same)) && distinct(p, &v) {
			t.Fatalf("%v: output %d, renamed %d", m, from.Output(cards.Action(move)), to.Output(cards.Action(same)))
		}
		cards.Step[S, P](p, &v, move)
		cards.Step[S, P](q, &w, same)
	}
}

// distinct reports whether no two suits are alike in the hand of the seat to move and in what was
// played.
func distinct[S any, P cards.Position[S]](p P, w *cards.Watch) bool {
	hand := p.Board().Hands[p.Turn()]
	seen := map[string]bool{}
	for suit := range baraja.Suit(suits) {
		bits := func(s baraja.Set) uint64 { return cards.Bits40(s) >> (ranks * int(suit)) & (1<<ranks - 1) }
		key := fmt.Sprint(bits(hand), bits(w.Seen))
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}
