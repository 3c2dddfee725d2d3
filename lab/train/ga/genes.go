// Package ga searches for agents of Brisca and Tute by a genetic algorithm, as R. Arjonilla's bachelor's thesis
// does (UOC 2024). The individuals are nets, or agents that learn by Monte Carlo. Begin with Config and search.
package ga

import (
	"math"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// Genome has the genes of a net. For each layer it has two vectors: the weights, with a row for each input, and the
// biases. The vectors share memory with the net, so that a change applies to the net.
type Genome [][]float32

// perLayer is the number of vectors in a Genome for each layer of the net: weights and biases.
const perLayer = 2

func genesOf(n *net.Net) (g Genome) {
	for k, genes := range n.Genes() {
		cut := n.Sizes[k] * n.Sizes[k+1]
		g = append(g, genes[:cut:cut], genes[cut:])
	}
	return g
}

func (g Genome) layers() int { return len(g) / perLayer }

func (g Genome) layer(i int) Genome { return g[perLayer*i : perLayer*(i+1)] }

func (g Genome) copyFrom(from Genome) {
	for i, v := range from {
		copy(g[i], v)
	}
}

// distance returns the mean absolute difference between the genes of two genomes.
func (g Genome) distance(other Genome) float64 {
	sum, n := 0.0, 0
	for i, v := range g {
		for k, x := range v {
			sum += math.Abs(float64(x) - float64(other[i][k]))
		}
		n += len(v)
	}
	return sum / float64(n)
}

func uniform(r *rules.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// randomInt returns a random integer in [low, high]. If high is lower than low, it returns low.
func randomInt(r *rules.Rand, low, high int) int {
	if high <= low {
		return low
	}
	return low + r.Below(high-low+1)
}

// randomSubset selects between 1 and n of n layers at random; each number is equally likely. The result is true for
// the selected layers.
func randomSubset(n int, r *rules.Rand) []bool {
	chosen := make([]bool, n)
	for _, i := range sample(n, randomInt(r, 1, n), r) {
		chosen[i] = true
	}
	return chosen
}

// sample draws k different numbers from [0, n), in random order. If k is higher than n, it draws n.
func sample(n, k int, r *rules.Rand) []int {
	all := indices(n)
	k = min(k, n)
	for i := range k {
		j := i + r.Below(n-i)
		all[i], all[j] = all[j], all[i]
	}
	return all[:k]
}
