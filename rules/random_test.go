package rules

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSeedsAndDealsZeroSeed checks the worked example of SPEC.md, "Seeds and deals".
func TestSeedsAndDealsZeroSeed(t *testing.T) {
	s := NewStream(Seed{})
	for i, want := range []uint32{741658141, 4063986572, 1522477695} {
		if got := s.Uint32(); got != want {
			t.Errorf("number %d: got %d, want %d", i, got, want)
		}
	}
}

// TestSeedsAndDealsBelow compares Below with a slow implementation, which is uniform over the accepted values.
func TestSeedsAndDealsBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := Seed(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))
		n := rapid.IntRange(1, 1<<31).Draw(t, "n")
		a, b := NewStream(seed), NewStream(seed)
		got := a.Below(n)
		for {
			v := int(b.Uint32())
			if v >= (1<<32)/n*n {
				continue
			}
			if got != v%n {
				t.Fatalf("below %d: got %d, want %d", n, got, v%n)
			}
			return
		}
	})
}

func TestShuffleKeepsEveryCard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, s := range []Stream{
			NewStream(Seed(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))),
			FastStream(NewRand(rapid.Uint64().Draw(t, "fast"))),
		} {
			p := make([]uint8, rapid.IntRange(0, 48).Draw(t, "n"))
			for i := range p {
				p[i] = uint8(i)
			}
			Shuffle(&s, p)
			var seen uint64
			for _, c := range p {
				seen |= 1 << c
			}
			if seen != 1<<len(p)-1 {
				t.Fatalf("shuffled %d cards to %v", len(p), p)
			}
		}
	})
}
