package brisca

import (
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/referee/rules/baraja/barajatest"
)

// naive is Brisca a second time, from the text of the rules, slow and plain, to be
// played move by move against State.
type naive struct{ *barajatest.Naive }

// newNaive deals from a shuffled pack.
func newNaive(option map[string]string, pack []string) *naive {
	g := &naive{barajatest.NewNaive(option, pack, 3)}
	g.Instants(false)
	return g
}

func (g *naive) Legal() []string {
	if g.Over {
		return nil
	}
	hand := g.Hands[g.Turn()]
	return append(barajatest.InPackOrder(hand), g.Swaps(hand)...)
}

func (g *naive) Move(text string) {
	if card, ok := strings.CutPrefix(text, "swap:"); ok {
		g.Swap(card)
		g.Instants(false)
	} else if g.Play(text) && g.EndTrick(func(int) {}) {
		g.Instants(false)
	}
}

// pair is both implementations in the same position.
type pair = barajatest.Pair[State, *State, *naive]

// newPair deals from the shuffled pack to both.
func newPair(v Variant, pack []baraja.Card) *pair {
	p := &pair{Variant: v, Fast: State{rules: v.Rules}, Slow: newNaive(barajatest.Options(v), barajatest.Words(pack))}
	p.Table = &p.Fast.Table
	copy(p.Fast.Pack[:], pack)
	p.Fast.begin()
	p.Fast.Start(&p.Log)
	return p
}

// everyVariant returns every combination of options that the game accepts.
func everyVariant() []Variant { return barajatest.Variants[Variant](Game{}) }

// shuffled returns a pack to deal from. Every other one is arranged so that what is
// rare happens: one seat is dealt, or draws early, most of a trump suit.
func shuffled(v Variant, r *rules.Rand) []baraja.Card {
	pack := slices.Clone(baraja.Pack40)
	stream := rules.FastStream(r)
	rules.Shuffle(&stream, pack)
	if r.Below(2) == 0 {
		return pack
	}
	n := v.Players()
	suit := pack[n*handCards].Suit()
	seat := r.Below(n)
	places := []int{seat, n + seat, 2*n + seat, 3*n + 1 + seat, 4*n + 1 + seat, 5*n + 1 + seat}
	for i, rank := range []int{1, 3, 12, 7, 2} {
		j := i + r.Below(len(places)-i)
		places[i], places[j] = places[j], places[i]
		at := slices.Index(pack, baraja.Of(rank, suit))
		if at != n*handCards {
			pack[at], pack[places[i]] = pack[places[i]], pack[at]
		}
	}
	return pack
}

// Every option, thousands of games, and what is rare must have been met.
func TestBriscaAgainstNaive(t *testing.T) { briscaAgainstNaive(t, 12) }

func briscaAgainstNaive(t *testing.T, games int) {
	met := map[string]int{}
	r := rules.NewRand(1)
	for _, v := range everyVariant() {
		for range games {
			p := newPair(v, shuffled(v, r))
			mode := r.Below(3)
			for {
				for _, event := range p.Slow.Heard[0] {
					barajatest.Count(met, event)
				}
				legal := p.Compare(t)
				p.Try(t, rules.Move(r.Below(120)))
				if len(legal) == 0 {
					break
				}
				p.Move(p.Pick(legal, mode, r))
			}
		}
	}
	for _, event := range []string{"swap", "instant blackhand", "instant hunt3"} {
		if met[event] < games/4 {
			t.Errorf("%s happened only %d times in %d games", event, met[event], games*len(everyVariant()))
		}
	}
}
