//go:build !race || slowrace

package ga

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/rules"
)

// TestMutations compares each mutation with an example computed by hand, for given random numbers.
func TestMutations(t *testing.T) {
	for _, test := range []struct {
		name   string
		mutate func(v []float32)
		want   []float32
	}{
		{"swap of genes 1 and 6, and of 0 and 3", func(v []float32) { swapPairs(v, []int{1, 6, 0, 3}) }, []float32{4, 7, 3, 1, 5, 6, 2, 8}},
		{"inversion of genes 2 to 5", func(v []float32) { slices.Reverse(v[2:6]) }, []float32{1, 2, 6, 5, 4, 3, 7, 8}},
		{"displacement of genes 2 to 4 to the front", func(v []float32) { displace(v, 2, 5, 0) }, []float32{3, 4, 5, 1, 2, 6, 7, 8}},
		{"displacement of genes 2 to 4 behind gene 7", func(v []float32) { displace(v, 2, 5, 4) }, []float32{1, 2, 6, 7, 3, 4, 5, 8}},
		{"displacement of genes 2 to 4 to the end", func(v []float32) { displace(v, 2, 5, 5) }, []float32{1, 2, 6, 7, 8, 3, 4, 5}},
		{"displacement to where they are", func(v []float32) { displace(v, 2, 5, 2) }, parentA},
		{"displaced inversion of genes 2 to 4 behind gene 7", func(v []float32) {
			slices.Reverse(v[2:5])
			displace(v, 2, 5, 4)
		}, []float32{1, 2, 6, 7, 5, 4, 3, 8}},
	} {
		v := slices.Clone(parentA)
		if test.mutate(v); !slices.Equal(v, test.want) {
			t.Errorf("%s: %v, want %v", test.name, v, test.want)
		}
	}
}

// TestMutationProperty checks every mutation on vectors of any length: those of the study only move genes,
// and those that exchange genes in place change at most the allowed number.
func TestMutationProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := mutations[rapid.IntRange(0, len(mutations)-1).Draw(t, "mutation")]
		v := make([]float32, rapid.IntRange(2, 300).Draw(t, "genes"))
		for i := range v {
			v[i] = float32(i) + 1
		}
		was := slices.Clone(v)
		m.mutate(v, rules.NewRand(rapid.Uint64().Draw(t, "seed")))
		changed := 0
		for i := range v {
			if v[i] != was[i] {
				changed++
			}
		}
		switch m.name {
		case "swap", "partial-shuffle", "inversion":
			if most := max(minMutated, maxMutated(v)+1); changed > most {
				t.Fatalf("%s changed %d of %d genes, more than %d", m.name, changed, len(v), most)
			}
		}
		if slices.Sort(v); m.name != "noise" && !slices.Equal(v, was) {
			t.Fatalf("%s makes genes: %v", m.name, v)
		}
	})
}

// TestMutationsWork checks that every mutation nearly always changes a net, in a random number of layers.
func TestMutationsWork(t *testing.T) {
	for _, m := range mutations {
		changed, layers := 0, map[int]bool{}
		for seed := range uint64(200) {
			n := someNet(t, seed, 10, 8, 6)
			was := n.Clone()
			m.inSomeLayers(genesOf(n), rules.NewRand(seed))
			different := 0
			for i := range n.Genes() {
				if !slices.Equal(n.Genes()[i], was.Genes()[i]) {
					different++
				}
			}
			if layers[different] = true; different > 0 {
				changed++
			}
		}
		if changed < 170 || !layers[1] || !layers[2] {
			t.Errorf("%s: %d of 200 nets change, numbers of layers %v", m.name, changed, layers)
		}
	}
}
