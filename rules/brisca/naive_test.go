package brisca

import (
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/baraja/barajatest"
	"github.com/timba-arena/timba/rules/rulestest"
)

// naive implements Brisca a second time, slowly and plainly, from the text of the rules. rulestest.Pair
// compares it with State.
type naive struct{ *barajatest.Naive }

// newNaive deals from a shuffled pack.
func newNaive(option map[string]string, pack []string) *naive {
	g := &naive{barajatest.NewNaive(option, pack, 3)}
	g.CheckInstantWins(false)
	return g
}

func (g *naive) Legal() []string {
	if g.Over {
		return nil
	}
	hand := g.Hands[g.Turn()]
	return append(barajatest.InPackOrder(hand), g.Swaps(hand)...)
}

func (g *naive) Play(text string) {
	g.Plies++
	if card, ok := strings.CutPrefix(text, "swap:"); ok {
		g.Swap(card)
		g.CheckInstantWins(false)
	} else if g.PlayCard(text) && g.FinishTrick(func(int) {}) {
		g.CheckInstantWins(false)
	}
}

// newPair deals the same shuffled pack to both implementations.
func newPair(t kit.T, v *rules.Variant, pack []baraja.Card) *rulestest.Pair[*naive] {
	t.Helper()
	s, text := new(State), string(baraja.Text(nil, pack))
	s.Layout(v.Rules.(Rules), pack)
	n := newNaive(v.Settings.Map(), strings.Split(text, ","))
	return kit.Get[*rulestest.Pair[*naive]](t)(rulestest.NewPair(v, s, n, text))
}

// everyVariant returns every combination of options that the game accepts.
func everyVariant(t kit.T) []*rules.Variant {
	return kit.Get[[]*rules.Variant](t)(rulestest.Variants(Game))
}

// shuffled returns a pack to deal from. Every second pack is arranged so that rare events happen: one seat is
// dealt, or soon draws, most of a trump suit.
func shuffled(v *rules.Variant, r *rules.Rand) []baraja.Card {
	pack := slices.Clone(v.Rules.(Rules).Pack())
	stream := rules.FastStream(r)
	rules.Shuffle(&stream, pack)
	if r.Below(2) == 0 {
		return pack
	}
	n := v.Players
	suit := pack[n*handCards].Suit()
	seat := r.Below(n)
	places := []int{seat, n + seat, 2*n + seat, 3*n + 1 + seat, 4*n + 1 + seat, 5*n + 1 + seat}
	for i, rank := range []int{1, 3, 12, 7, 2} {
		j := i + r.Below(len(places)-i)
		places[i], places[j] = places[j], places[i]
		at := slices.Index(pack, baraja.CardOf(rank, suit))
		if at >= 0 && at != n*handCards { // a 2 may be left out
			pack[at], pack[places[i]] = pack[places[i]], pack[at]
		}
	}
	return pack
}

// TestBriscaAgainstNaive compares thousands of games with all options, in which every rare event must happen.
func TestBriscaAgainstNaive(t *testing.T) {
	games := 12
	if kit.Soak {
		games = 80
	}
	met, r := map[string]int{}, rules.NewRand(2)
	for _, v := range everyVariant(t) {
		for range games {
			p, mode := newPair(t, v, shuffled(v, r)), r.Below(3)
			for p.Naive.Turn() >= 0 {
				kit.Must(t, p.Try(p.Naive.Pick(p.Naive.Legal(), mode, r)))
			}
			for event, n := range p.Naive.EventCounts {
				met[event] += n
			}
		}
	}
	for _, event := range []string{"swap", "instant blackhand", "instant hunt3"} {
		if met[event] < games/4 {
			t.Errorf("%s happened only %d times in %d games of each variant", event, met[event], games)
		}
	}
}

// FuzzPlay compares a game that the input determines with the naive implementation.
func FuzzPlay(f *testing.F) {
	variants := everyVariant(f)
	rulestest.FuzzNaive(f, func(t *testing.T, head [4]byte) *rulestest.Pair[*naive] {
		v := variants[int(head[0])%len(variants)]
		return newPair(t, v, shuffled(v, rules.NewRand(uint64(head[1]))))
	})
}
