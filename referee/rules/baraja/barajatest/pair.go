package barajatest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// Game is a game with a naive table.
type Game interface {
	Base() *Naive
	Turn() int
	Legal() []string
	Move(text string)
	View(seat int) string
}

// Pair is the engine's state and the naive game in the same position.
type Pair[S comparable, P interface {
	*S
	rules.State
}, G Game] struct {
	Variant rules.Variant
	Fast    S
	Table   *baraja.Table // of Fast
	Slow    G
	Log     rules.Log
}

// Words returns the pack as the naive game has it.
func Words(pack []baraja.Card) (words []string) {
	for _, c := range pack {
		words = append(words, c.String())
	}
	return words
}

// Options returns the settings of a variant as a map.
func Options(v rules.Variant) map[string]string {
	option := map[string]string{}
	for _, o := range v.Settings() {
		option[o.Name] = o.Value
	}
	return option
}

// Compare wants both to say the same, and is the legal moves.
func (p *Pair[S, P, G]) Compare(t testing.TB) []rules.Move {
	t.Helper()
	fast, base := P(&p.Fast), p.Slow.Base()
	legal := fast.Legal(nil)
	var words []string
	for _, m := range legal {
		words = append(words, string(fast.MoveText(nil, m)))
	}
	p.same(t, "turn", fast.Turn(), p.Slow.Turn())
	p.same(t, "legal", strings.Join(words, " "), strings.Join(p.Slow.Legal(), " "))
	for seat := range base.Seats {
		p.same(t, "view", string(fast.View(nil, seat)), p.Slow.View(seat))
		heard := ""
		for _, event := range base.Heard[seat] {
			heard += event + "\n"
		}
		p.same(t, "events", string(p.Log.Events(nil, seat, "")), heard)
		base.Heard[seat] = nil
	}
	points := fast.Points()
	p.same(t, "ranks", fmt.Sprint(rules.Ranks(p.Variant, points)), fmt.Sprint(base.Ranks()))
	p.same(t, "points", fmt.Sprint(points), fmt.Sprint(base.Points))
	return legal
}

func (p *Pair[S, P, G]) same(t testing.TB, what string, fast, slow any) {
	t.Helper()
	if fast != slow {
		t.Fatalf("%s after %v (-fast +naive):\n%s", what, p.Slow.Base().Played, cmp.Diff(fast, slow))
	}
}

// Move makes a legal move in both.
func (p *Pair[S, P, G]) Move(m rules.Move) {
	p.Slow.Move(string(P(&p.Fast).MoveText(nil, m)))
	p.Log.Reset()
	P(&p.Fast).Apply(m, &p.Log)
}

// Try wants a move to be accepted exactly when the naive game lists it, and a
// refusal to change nothing.
func (p *Pair[S, P, G]) Try(t testing.TB, m rules.Move) {
	t.Helper()
	before := p.Fast
	err := P(&p.Fast).Check(m)
	p.same(t, fmt.Sprint("accepts ", m), err == nil, slices.Contains(p.Slow.Legal(), string(P(&p.Fast).MoveText(nil, m))))
	if p.Fast != before {
		t.Fatalf("checking %d changes the state", m)
	}
}

// Pick picks a move, by chance or with the intent of mode: 1 holds back the high
// trumps, 2 leads the 3 of trumps and puts the 1 on it.
func (p *Pair[S, P, G]) Pick(legal []rules.Move, mode int, r *rules.Rand) rules.Move {
	trumps := p.Table.Trumps()
	one, three := rules.Move(baraja.Of(1, trumps)), rules.Move(baraja.Of(3, trumps))
	m := legal[r.Below(len(legal))]
	switch mode {
	case 1:
		if m == one || m == three || m == rules.Move(baraja.Of(12, trumps)) {
			m = legal[r.Below(len(legal))]
		}
	case 2:
		trick := p.Table.Trick()
		if len(trick) == 0 && slices.Contains(legal, three) {
			return three
		}
		if slices.Contains(trick, baraja.Card(three)) && slices.Contains(legal, one) {
			return one
		}
		if m == one {
			m = legal[r.Below(len(legal))]
		}
	}
	return m
}

// Fuzz lets bytes choose the moves, legal ones and others. A byte below 192 makes
// a legal move; any other, with the next, is the number of a move to be tried only.
func (p *Pair[S, P, G]) Fuzz(t testing.TB, data []byte) {
	next := func() (b int) {
		if len(data) > 0 {
			b, data = int(data[0]), data[1:]
		}
		return b
	}
	for legal := p.Compare(t); len(legal) > 0; legal = p.Compare(t) {
		choice := next()
		if choice < 192 {
			p.Move(legal[choice%len(legal)])
			continue
		}
		p.Try(t, rules.Move(choice-192)<<8|rules.Move(next()))
		p.Move(legal[0])
	}
}

// FuzzPlay adds the seeds of a fuzz test that plays pairs: a variant, a seed of
// the pack, and the bytes for Fuzz.
func FuzzPlay(f *testing.F, play func(t *testing.T, variant uint8, seed uint64, data []byte)) {
	f.Add(uint8(0), uint64(0), []byte{})
	f.Add(uint8(7), uint64(1), []byte{0, 1, 2, 200, 7, 3, 3, 3, 255, 60, 1, 1})
	f.Add(uint8(31), uint64(2), []byte{3, 3, 3, 3, 192, 96, 3, 3, 2, 1, 0, 2})
	f.Fuzz(play)
}

// Variants returns every combination of options that a game accepts.
func Variants[V rules.Variant](g rules.Game) (variants []V) {
	combos := []map[string]string{{}}
	for _, o := range g.Options() {
		values := slices.Clone(o.Values)
		if o.Values == nil {
			for n := o.Min; n <= o.Max; n++ {
				values = append(values, strconv.Itoa(n))
			}
		}
		var next []map[string]string
		for _, combo := range combos {
			for _, value := range values {
				with := map[string]string{o.Name: value}
				for k, v := range combo {
					with[k] = v
				}
				next = append(next, with)
			}
		}
		combos = next
	}
	for _, combo := range combos {
		if v, err := rules.Resolve(g, combo); err == nil {
			variants = append(variants, v.(V))
		}
	}
	return variants
}

// Count counts an event by its words that are not numbers or cards.
func Count(met map[string]int, event string) {
	words := strings.Fields(event)
	if words[0] == "instant" {
		words[0] += " " + words[2]
	}
	met[words[0]]++
}
