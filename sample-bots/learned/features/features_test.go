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

// TestInputs checks the numbers of inputs: those of the tables of the thesis, and those of its program. Table 11 of the
// thesis has 65 and 70 for Brisca with three and four players, where its columns add up to 66 and 71.
func TestInputs(t *testing.T) {
	var got strings.Builder
	for _, m := range cards.Modes() {
		fmt.Fprint(&got, m)
		for _, encoding := range append(ActionEncodings(), Genetic) {
			e := kit.Get[Encoder](t)(NewEncoder(m, encoding))
			fmt.Fprint(&got, " ", e.Inputs())
		}
		got.WriteByte('\n')
	}
	const want = `brisca2 56 167 200 160 142 61 56 160 112
brisca3 62 187 253 173 146 66 62 173 125
brisca4 68 208 307 187 151 71 68 187 139
brisca-teams 68 208 307 187 151 71 68 187 139
tute2 62 179 212 172 154 73 62 172 120
tute3 69 203 269 189 162 82 69 189 137
tute4 76 228 327 207 171 91 76 207 155
tute-teams 76 228 327 207 171 91 76 207 155
follow2 62 179 212 172 154 73 62 172 120
follow3 69 203 269 189 162 82 69 189 137
follow4 76 228 327 207 171 91 76 207 155
follow-teams 76 228 327 207 171 91 76 207 155
`
	if got.String() != want {
		t.Errorf("inputs of %v, genetic:\n%s", ActionEncodings(), &got)
	}
	if _, err := NewEncoder(cards.Modes()[0], "x"); err == nil || !strings.Contains(err.Error(), `"x" does not exist: try program, `) {
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

// TestPosition checks a position of Brisca that was encoded by hand: seat 0 has led the 3 of copas; seat 1 holds 1o, 2o
// and 12b; the trump card is the 7 of espadas; exchange and hunt3 are on.
func TestPosition(t *testing.T) {
	m := kit.Get[cards.Mode](t)(cards.ParseMode("brisca2"))
	r := m.Rules()[0b1001]
	p := first(t, m, r, "3c 1o 4c 2o 5c 12b 7e")
	p.Play(rules.Move(baraja.CardOf(3, 1)))
	for _, test := range []struct{ encoding, want string }{
		// Suit e is 2; a 7 has strength 5: 4/9. Suit c is 1; a 3 has strength 9. The hand has the
		// bits 0, 1 and 39, so that it is (2^39+3)/(2^40-1); the cards played have bit 12.
		{Scaled, "2=1 4=0.4444 6=1 9=0.9 10=0.5 11=3.725e-09 14=0.6 25=1"},
		// In the order of the program the hand has the bits 39, 38 and 0: (2^39+2^38)/(2^40-2). The card
		// played has bit 27: 2^27/(2^40-1).
		{Program, "2=1 4=0.4444 6=1 9=0.9 10=0.75 11=0.0001221 14=0.6 25=1"},
		{"table11", "2=1 4=0.4444 6=1 9=0.9 10=0.75 11=0.0001221 12=1 19=0.6 30=1"},
		{"table10", "2=1 4=0.4444 6=1 9=0.9 10=1 11=1 49=1 62=1 90=1 97=1 100=1 111=1"},
		{Genetic, "2=1 8=1 15=1 26=1 28=1 29=1 67=1 80=1 108=1 111=1"},
		// The action is the 12 of bastos, card 39, or 10o, card 7 of the hand below.
		{"unscaled", "2=1 8=1 15=1 26=1 28=1 29=1 67=1 80=1 115=1 118=1 129=1"},
		{"table9", "2=1 8=1 15=1 26=1 28=1 29=1 67=1 80=1 108=1 115=1 118=1 129=1"},
		{"program-bits", "2=1 8=1 15=1 26=1 28=1 29=1 67=1 80=1 108=1 115=1 122=1 125=1 136=1"},
		{"table6", "2=1 8=1 15=1 26=1 28=1 29=1 67=1 120=1 148=1 155=1 158=1 169=1"},
	} {
		checkText(t, test.encoding, p, 1, test.want)
	}
}

// checkText checks the inputs for what a seat knows, and for the action 10.
func checkText(t *testing.T, encoding string, p *cards.Position, seat int, want string) {
	t.Helper()
	e := kit.Get[Encoder](t)(NewEncoder(p.Mode, encoding))
	var s net.Inputs
	e.AppendState(&s, p, seat)
	if encoding != Genetic {
		s.Add(e.ActionInput(10), 1)
	}
	if got := text(&s); got != want {
		t.Errorf("%s: %s, not %s", encoding, got, want)
	}
}

// TestSongs checks the inputs for songs, points and the known cards of a rival. Seat 0 has declared copas and has scored
// oros, and seat 1 has 45 points.
func TestSongs(t *testing.T) {
	m := kit.Get[cards.Mode](t)(cards.ParseMode("tute2"))
	p := first(t, m, m.Rules()[0], "12c 1o 11c 2o 4c 3o 5c 4o 6c 5o 7c 6o 1e 7o 2e 10o 2b")
	p.History.ScoredSongs[0] = 1
	p.Board().Points[1] = 45
	const trumpAndHand = "3=1 4=1 28=1 29=1 30=1 31=1 32=1 33=1 34=1 35=1 "
	for _, test := range []struct{ encoding, want string }{
		// The hand has the bits 0 to 7, in the order of the program 39 to 32. Oros and copas are 3 of 15, copas alone 2 of 4.
		{Scaled, "3=1 10=2.319e-10 12=0.2 14=0.1957 27=1"},
		{Program, "3=1 10=0.9961 12=0.5 14=0.1957 27=1"},
		{"table6", trumpAndHand + "86=1 87=1 113=1 158=1 177=1"},
		{"table9", trumpAndHand + "73=1 118=1 137=1"},
		{"program-bits", trumpAndHand + "73=1 118=1 123=1 144=1"},
		{"unscaled", trumpAndHand + "72=1 73=1 116=1 118=1 119=1 121=1 137=1"},
	} {
		checkText(t, test.encoding, p, 1, test.want)
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
	e := kit.Get[Encoder](t)(NewEncoder(m, rapid.SampledFrom(append(ActionEncodings(), Genetic)).Draw(t, "encoding")))
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
