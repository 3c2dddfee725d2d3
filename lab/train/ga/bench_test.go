//go:build !race || slowrace

package ga

import (
	"context"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// BenchmarkGame measures a game of Brisca between two nets with the layers of the study.
func BenchmarkGame(b *testing.B) {
	s, err := newSearch(Default("brisca2"), 1, nil, newNetSpecies)
	kit.Must(b, err)
	d := s.workers[0]
	agents := d.seatAgents(s.members, pairing{0, 1}, false)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.play(agents, uint64(i/2), i%2)
	}
}

// BenchmarkAgents measures a generation of 200 agents that have learned for 20 generations.
func BenchmarkAgents(b *testing.B) {
	c := DefaultAgents("brisca2")
	s := newBriscaAgents(b, c, 1)
	step := func() {
		if _, err := s.step(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	for range 20 {
		step()
	}
	for b.Loop() {
		step()
	}
}

// BenchmarkDictionaries measures a crossover of two dictionaries of 10,000 states, a third of which are in both.
func BenchmarkDictionaries(b *testing.B) {
	p, q := someDictionary(1, 30_000).dictionary().sortedPairs(), someDictionary(2, 30_000).dictionary().sortedPairs()
	r := rules.NewRand(1)
	for b.Loop() {
		born := offspring{children: empty(), rand: r}
		born.cross(p, q, dictionaryCrossovers[2].newMix(len(p), r))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(p)+len(q)), "ns/pair")
}
