package cards

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/tute"
)

func TestModes(t *testing.T) {
	const want = "brisca2 brisca3 brisca4 brisca-teams tute2 tute3 tute4 tute-teams follow2 follow3 follow4 follow-teams"
	if got := strings.Join(ModeNames(), " "); got != want {
		t.Errorf("modes: %s", got)
	}
	for _, m := range Modes() {
		if got, err := ParseMode(m.String()); err != nil || got != m {
			t.Errorf("%v reads back as %v, %v", m, got, err)
		}
		for bits, r := range m.Rules() {
			v := m.Variant(r)
			got, ok := ModeOf(v)
			if again, err := v.Game.Resolve(v.Settings.Map()); !ok || got != m || RuleBits(r) != bits || err != nil || again.Rules != v.Rules || !slices.Equal(again.Settings, v.Settings) {
				t.Errorf("%v, rules %b: %v of %v, %v", m, bits, got, v.Settings, err)
			}
		}
		if n := len(m.Rules()); n != 8 && (n != 16 || m.Players != 2) {
			t.Errorf("%v has %d combinations of rules", m, n)
		}
	}
	if _, err := ParseMode("chess"); err == nil || !strings.Contains(err.Error(), `"chess"`) || !strings.Contains(err.Error(), "follow-teams") {
		t.Errorf("chess: %v", err)
	}
	teeko, err := games.Find("teeko")
	kit.Must(t, err)
	v, err := teeko.Resolve(nil)
	if _, ok := ModeOf(v); ok || err != nil {
		t.Errorf("Teeko has a mode: %v", err)
	}
}

// TestRuleBits checks the digits as in the thesis, exchange, last10, blackhand and hunt3: 1001 is exchange
// and hunt3.
func TestRuleBits(t *testing.T) {
	two := kit.Get[Mode](t)(ParseMode("tute2"))
	if r := two.Rules()[0b1001]; r != (baraja.TableRules{Players: 2, Exchange: true, Hunt3: true}) {
		t.Errorf("rules 1001: %+v", r)
	}
	three := kit.Get[Mode](t)(ParseMode("brisca3"))
	if r := three.Rules()[0b011]; r != (baraja.TableRules{Players: 3, Last10: true, BlackHand: true}) {
		t.Errorf("rules 011: %+v", r)
	}
}

func TestBits40(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfDistinct(rapid.SampledFrom(baraja.Pack40), rapid.ID[baraja.Card]).Draw(t, "cards")
		want := uint64(0)
		for _, c := range list {
			want |= 1 << Index(c)
			if CardAt(Index(c)) != c {
				t.Fatalf("%v has the index %d", c, Index(c))
			}
		}
		if got := Bits40(baraja.SetOf(list)); got != want {
			t.Fatalf("%v: %b, not %b", list, got, want)
		}
	})
}

// TestActions checks in random games that legal moves have different actions and that FindMove returns them.
func TestActions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(Modes()).Draw(t, "mode")
		r := rules.NewRand(rapid.Uint64().Draw(t, "seed"))
		actions(t, m, r)
	})
}

func actions(t *rapid.T, m Mode, r *rules.Rand) {
	p := new(Position)
	src := rules.FastStream(r)
	list := m.Rules()
	option := list[r.Below(len(list))]
	p.Deal(m, option, &src)
	if p.Options() != option {
		t.Fatalf("%v: options %v", m, p.Options())
	}
	for p.Turn() >= 0 {
		legal := p.Legal(nil)
		var seen []int
		for _, move := range legal {
			a := Action(move)
			if found, ok := FindMove(a, legal); !ok || found != move || a >= m.Actions() || slices.Contains(seen, a) {
				t.Fatalf("%v: move %d is action %d, which is move %d", m, move, a, found)
			}
			if a >= SingAction && SongMove(a) != move || a >= SingAction != (move >= tute.SingMove) {
				t.Fatalf("%v: song %d", m, move)
			}
			seen = append(seen, a)
		}
		p.Apply(legal[r.Below(len(legal))], nil)
	}
}

func TestStanding(t *testing.T) {
	for _, test := range []struct {
		players uint8
		teams   bool
		points  [4]int16
		want    []int
	}{
		{2, false, [4]int16{61, 59}, []int{1, -1}},
		{2, false, [4]int16{60, 60}, []int{0, 0}},
		{3, false, [4]int16{50, 50, 20}, []int{0, 0, -1}},
		{4, false, [4]int16{50, 30, 20, 20}, []int{1, -1, -1, -1}},
		{4, true, [4]int16{10, 60, 50, 0}, []int{0, 0, 0, 0}},
		{4, true, [4]int16{10, 60, 51, 0}, []int{1, -1, 1, -1}},
	} {
		for seat, want := range test.want {
			p := Position{Mode: Mode{Players: int(test.players), Teams: test.teams}}
			p.brisca.Players, p.brisca.Table.Points = test.players, test.points
			if got := p.Outcome(seat); got != want {
				t.Errorf("%+v: seat %d has %d", test, seat, got)
			}
		}
	}
}

// TestCombinations checks the texts for all combinations of the optional rules, for none of them, and for one.
func TestCombinations(t *testing.T) {
	for _, m := range Modes() {
		one := strings.Repeat("0", m.RuleCount()-1) + "1"
		for text, want := range map[string][]baraja.TableRules{
			AllRules: m.Rules(), NoRules: m.Rules()[:1], strings.Repeat("0", m.RuleCount()): m.Rules()[:1], one: m.Rules()[1:2], "2": nil, one + "1": nil, "": nil,
		} {
			got, err := m.Combinations(text)
			if !slices.Equal(got, want) || (err != nil) != (want == nil) {
				t.Errorf("%s, %q: %v, %v", m, text, got, err)
			}
		}
	}
}
