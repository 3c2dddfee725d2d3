package features

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/net"
)

func itoa(n int) string { return strconv.Itoa(n) }

// The thesis gives 56 to 76 scaled inputs, 160 to 207 bits, and 112 bits of its genetic search.
func TestInputs(t *testing.T) {
	var got strings.Builder
	for _, m := range learn.Modes() {
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
	if _, err := NewEncoder(learn.Modes()[0], "x"); err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("encoding x: %v", err)
	}
}

// first lays out a game whose pack begins with some cards.
func first[S any, P learn.Position[S]](t *testing.T, m learn.Mode, r baraja.TableRules, begin string) P {
	pack := cards(t, begin)
	for _, c := range baraja.Pack40 {
		if !slices.Contains(pack, c) {
			pack = append(pack, c)
		}
	}
	p := P(new(S))
	p.Layout(m, r, [baraja.TableCards]baraja.Card(pack))
	return p
}

func text(s *net.Sample) string {
	var words []string
	for i, input := range s.Index {
		words = append(words, fmt.Sprintf("%d=%.4g", input, s.Value[i]))
	}
	return strings.Join(words, " ")
}

// A position of Brisca, worked by hand: seat 0 has led the 3 of copas; seat 1 holds 1o, 2o and
// 12b; the trump card is the 7 of espadas; exchange and hunt3 are on.
func TestScaledPosition(t *testing.T) {
	m := mode(t, "brisca2")
	r := m.Rules()[0b1001]
	p := first[learn.Brisca](t, m, r, "3c 1o 4c 2o 5c 12b 7e")
	var w learn.Watch
	learn.Step[learn.Brisca](p, &w, rules.Move(baraja.Of(3, 1)))
	for _, test := range []struct{ encoding, want string }{
		// Suit e is 2; a 7 has strength 5: 4/9. Suit c is 1; a 3 has strength 9. The hand has the
		// bits 0, 1 and 39, so that it is (2^39+3)/(2^40-1); the cards played have bit 12.
		{Scaled, "2=1 4=0.4444 6=1 9=0.9 10=0.5 11=3.725e-09 14=0.6 25=1"},
		// The action is the 12 of bastos, card 39, or 10o, card 7 of the hand below.
		{Genetic, "2=1 8=1 15=1 26=1 28=1 29=1 67=1 80=1 108=1 111=1"},
		{Unscaled, "2=1 8=1 15=1 26=1 28=1 29=1 67=1 80=1 115=1 118=1 129=1"},
	} {
		e := kit.Get[Encoder](t)(NewEncoder(m, test.encoding))
		var s net.Sample
		AppendState[learn.Brisca](&e, &s, p, &w, 1)
		if test.encoding != Genetic {
			e.AppendAction(&s, 10)
		}
		if got := text(&s); got != test.want {
			t.Errorf("%s: %s, not %s", test.encoding, got, test.want)
		}
	}
}

func TestTruncate(t *testing.T) {
	s := net.Sample{Index: []uint16{1, 4, 7, 9}, Value: []float32{1, 0.99, 2.5, 1}}
	Truncate(&s)
	if got := text(&s); got != "1=1 7=2 9=1" {
		t.Errorf("truncated: %s", got)
	}
}

// In random games of every mode: what a seat does not see has no influence on its inputs, inputs
// are numbers from 0 to 1 in rising order, and decisions have the points that the game had.
func TestRandomGames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(learn.Modes()).Draw(t, "mode")
		if m.Tute {
			randomGame[learn.Tute](t, m)
		} else {
			randomGame[learn.Brisca](t, m)
		}
	})
}

func randomGame[S any, P learn.Position[S]](t *rapid.T, m learn.Mode) {
	r := rules.NewRand(rapid.Uint64().Draw(t, "seed"))
	list := m.Rules()
	option := list[r.Below(len(list))]
	e := kit.Get[Encoder](t)(NewEncoder(m, rapid.SampledFrom([]string{Scaled, Unscaled, Genetic}).Draw(t, "encoding")))
	pack := [baraja.TableCards]baraja.Card(baraja.Pack40)
	src := rules.FastStream(r)
	rules.Shuffle(&src, pack[:])
	var f Follower[S, P]
	f.Begin(m, option, pack)
	p := P(&f.State)
	var memory [rules.MaxMoves]rules.Move
	for p.Turn() >= 0 {
		if w := learn.Watched[S, P](p); w != f.Watch {
			t.Fatalf("%v: watched %+v, kept up %+v", m, w, f.Watch)
		}
		checkInputs(t, &e, p, &f.Watch, r)
		legal := p.Legal(memory[:0])
		f.Step(legal[r.Below(len(legal))])
	}
	checkDecisions(t, m, p, f.Decisions)
}

func checkInputs[S any, P learn.Position[S]](t *rapid.T, e *Encoder, p P, w *learn.Watch, r *rules.Rand) {
	seat := p.Turn()
	var seen, redealt net.Sample
	AppendState(e, &seen, p, w, seat)
	other := *p
	P(&other).Redeal(seat, r)
	AppendState(e, &redealt, P(&other), w, seat)
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

// checkDecisions checks that the points of the decisions are those of the game, unless it was won
// at once: then the points say nothing.
func checkDecisions[S any, P learn.Position[S]](t *rapid.T, m learn.Mode, p P, list []Decision) {
	board := p.Board()
	sum, plays := 0, 0
	rest := map[int8]int16{}
	for _, d := range list {
		before, later := rest[d.Seat]
		if final := side(m, board, int(d.Seat)); d.Rest < 0 || !later && d.Rest != final || later && d.Rest > before {
			t.Fatalf("%v: seat %d has %d points to come, then %d, and %d in the end", m, d.Seat, before, d.Rest, final)
		}
		rest[d.Seat] = d.Rest
		if want := learn.Standing(board, m.Teams, int(d.Seat)); int(d.Standing) != want {
			t.Fatalf("%v: a standing of %d, not %d", m, d.Standing, want)
		}
		sum += int(d.Points)
		plays++
	}
	if !board.Last() || plays != int(board.Played) {
		return // won at once, or not every decision is a card of a trick
	}
	var final [2]int // of the winners of each trick
	for seat := range m.Players {
		final[0] += int(board.Points[seat])
	}
	each := 1
	if m.Teams {
		each = 2 // both partners' decisions have the points of a trick
	}
	if hunted := p.Options().Hunt3 && board.Points[1-board.Winner%2] == 0; !hunted && sum != each*final[0] {
		t.Fatalf("%v: the decisions have %d points, the game %d", m, sum, final[0])
	}
}

// side returns the points of a seat's side.
func side(m learn.Mode, t *baraja.Table, seat int) (points int16) {
	for other := range m.Players {
		if other == seat || m.Teams && other%2 == seat%2 {
			points += t.Points[other]
		}
	}
	return points
}
