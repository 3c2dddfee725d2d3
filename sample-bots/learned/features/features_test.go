package features

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// TestInputs checks the numbers of inputs: 160 to 207 bits as in table 9 of the thesis, 56 to 76 scaled and 112 to
// 155 genetic ones as in its program. The tables of the thesis have other numbers of scaled inputs, 61 to 91.
func TestInputs(t *testing.T) {
	var got strings.Builder
	for _, m := range cards.Modes() {
		fmt.Fprint(&got, m)
		for _, encoding := range []string{Scaled, Unscaled, Genetic} {
			e := kit.Get[Encoder](t)(NewEncoder(m, encoding))
			fmt.Fprint(&got, " ", e.Inputs())
		}
		got.WriteByte('\n')
	}
	const want = `brisca2 56 160 112
brisca3 62 173 125
brisca4 68 187 139
brisca-teams 68 187 139
tute2 62 172 120
tute3 69 189 137
tute4 76 207 155
tute-teams 76 207 155
follow2 62 172 120
follow3 69 189 137
follow4 76 207 155
follow-teams 76 207 155
`
	if got.String() != want {
		t.Errorf("inputs, scaled, unscaled and genetic:\n%s", &got)
	}
	if _, err := NewEncoder(cards.Modes()[0], "x"); err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("encoding x: %v", err)
	}
}

// first starts a game whose pack begins with some cards.
func first(t *testing.T, m cards.Mode, r baraja.TableRules, begin string) *cards.Position {
	var pack []baraja.Card
	for word := range strings.FieldsSeq(begin) {
		pack = append(pack, kit.Get[baraja.Card](t)(baraja.Parse(word)))
	}
	for _, c := range baraja.Pack40 {
		if !slices.Contains(pack, c) {
			pack = append(pack, c)
		}
	}
	p := new(cards.Position)
	p.Layout(m, r, [baraja.TableCards]baraja.Card(pack))
	return p
}

func text(s *net.Inputs) string {
	var words []string
	for i, input := range s.Index {
		words = append(words, fmt.Sprintf("%d=%.4g", input, s.Value[i]))
	}
	return strings.Join(words, " ")
}

// TestScaledPosition checks a position of Brisca that was encoded by hand: seat 0 has led the 3 of copas;
// seat 1 holds 1o, 2o and 12b; the trump card is the 7 of espadas; exchange and hunt3 are on.
func TestScaledPosition(t *testing.T) {
	m := kit.Get[cards.Mode](t)(cards.ParseMode("brisca2"))
	r := m.Rules()[0b1001]
	p := first(t, m, r, "3c 1o 4c 2o 5c 12b 7e")
	p.Play(rules.Move(baraja.CardOf(3, 1)))
	for _, test := range []struct{ encoding, want string }{
		// Suit e is 2; a 7 has strength 5: 4/9. Suit c is 1; a 3 has strength 9. The hand has the
		// bits 0, 1 and 39, so that it is (2^39+3)/(2^40-1); the cards played have bit 12.
		{Scaled, "2=1 4=0.4444 6=1 9=0.9 10=0.5 11=3.725e-09 14=0.6 25=1"},
		// The action is the 12 of bastos, card 39, or 10o, card 7 of the hand below.
		{Genetic, "2=1 8=1 15=1 26=1 28=1 29=1 67=1 80=1 108=1 111=1"},
		{Unscaled, "2=1 8=1 15=1 26=1 28=1 29=1 67=1 80=1 115=1 118=1 129=1"},
	} {
		e := kit.Get[Encoder](t)(NewEncoder(m, test.encoding))
		var s net.Inputs
		e.AppendState(&s, p, 1)
		if test.encoding != Genetic {
			s.Add(e.ActionInput(10), 1)
		}
		if got := text(&s); got != test.want {
			t.Errorf("%s: %s, not %s", test.encoding, got, test.want)
		}
	}
}

func checkInputs(t *rapid.T, e *Encoder, p *cards.Position, r *rules.Rand) {
	seat := p.Turn()
	var seen, redealt net.Inputs
	e.AppendState(&seen, p, seat)
	other := *p
	other.Redeal(seat, r)
	e.AppendState(&redealt, &other, seat)
	if text(&seen) != text(&redealt) {
		t.Fatalf("%v: hidden cards change the inputs:\n%s\n%s", e.Mode, text(&seen), text(&redealt))
	}
	for i, input := range seen.Index {
		if i > 0 && input <= seen.Index[i-1] || int(input) >= e.Inputs() {
			t.Fatalf("%v: inputs %v of %d", e.Mode, seen.Index, e.Inputs())
		}
		if x := seen.Value[i]; !(x > 0 && x <= 1) {
			t.Fatalf("%v: input %d is %v", e.Mode, input, x)
		}
	}
}

// TestRandomGames checks in random games of every mode that inputs do not depend on what the seat does not
// see, and are numbers from 0 to 1 in increasing order.
func TestRandomGames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(cards.Modes()).Draw(t, "mode")
		randomGame(t, m)
	})
}

func randomGame(t *rapid.T, m cards.Mode) {
	r := rules.NewRand(rapid.Uint64().Draw(t, "seed"))
	list := m.Rules()
	e := kit.Get[Encoder](t)(NewEncoder(m, rapid.SampledFrom([]string{Scaled, Unscaled, Genetic}).Draw(t, "encoding")))
	src := rules.FastStream(r)
	p := new(cards.Position)
	p.Deal(m, list[r.Below(len(list))], &src)
	for p.Turn() >= 0 {
		var other cards.Position
		if !other.SetState(p.State()) || other.History != p.History || other.Mode != m {
			t.Fatalf("%v: watched %v %+v, kept up %+v", m, other.Mode, other.History, p.History)
		}
		checkInputs(t, &e, p, r)
		legal := p.Legal(nil)
		p.Play(legal[r.Below(len(legal))])
	}
}
