package podrida

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// perSecond reports how many of a thing each second of the benchmark did.
func perSecond(b *testing.B, n int, unit string) {
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), unit+"/s")
}

// dealRound starts a game at one of its rounds, and makes that the last one.
func (s *State) dealRound(r Rules, round int, src *rules.Stream) {
	*s = State{rules: r, round: uint8(round - 1), last: uint8(round), stream: *src, ply: r.plies(round)}
	s.dealer = int8((round + int(r.Players) - 3) % int(r.Players)) // the seat before
	s.nextRound(nil)
	*src = s.stream
}

// Single rounds at random move by move, the deal included: four seats, 40
// cards, five tricks, so 24 moves.
func BenchmarkRound(b *testing.B) {
	r := rules.NewRand(1)
	src := rules.FastStream(r)
	var s State
	var memory [rules.MaxMoves]rules.Move
	b.ReportAllocs()
	for b.Loop() {
		s.dealRound(Rules{Players: 4, Deck: 40}, 5, &src)
		for s.Turn() >= 0 {
			legal := s.Legal(memory[:0])
			s.Apply(legal[r.Below(len(legal))], nil)
		}
	}
	perSecond(b, b.N, "rounds")
}

// The hidden cards of a round of twelve, half played.
func BenchmarkRedeal(b *testing.B) {
	r := rules.NewRand(1)
	src := rules.FastStream(r)
	var s State
	s.dealRound(Rules{Players: 4, Deck: 48}, 12, &src)
	var memory [rules.MaxMoves]rules.Move
	for range 4 + 24 {
		legal := s.Legal(memory[:0])
		s.Apply(legal[r.Below(len(legal))], nil)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Redeal(0, r)
	}
}

func BenchmarkFromView(b *testing.B) {
	rulestest.BenchmarkFromView(b, Variant{Rules{Players: 4, Deck: 48}}, 100)
}
