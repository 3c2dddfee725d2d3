// Package ga searches for agents of Brisca and Tute by a genetic algorithm, as R. Arjonilla's
// bachelor's thesis does (UOC 2024): the individuals are nets, or agents that learn by Monte Carlo.
package ga

import (
	"math"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// Genome is the genes of a net, as a view of it: for each layer its weights, a row for each input,
// then its biases.
type Genome [][]float32

// perLayer is the vectors of a layer: weights and biases.
const perLayer = 2

// genesOf returns the genes of a net.
func genesOf(n *net.Net) (g Genome) {
	for k, genes := range n.Genes() {
		cut := n.Sizes[k] * n.Sizes[k+1]
		g = append(g, genes[:cut:cut], genes[cut:])
	}
	return g
}

// layers returns the number of layers.
func (g Genome) layers() int { return len(g) / perLayer }

// layer returns the genes of one layer.
func (g Genome) layer(i int) Genome { return g[perLayer*i : perLayer*(i+1)] }

// copyFrom copies the genes of another genome of the same shape.
func (g Genome) copyFrom(from Genome) {
	for i, v := range from {
		copy(g[i], v)
	}
}

// distance returns the mean absolute difference of the genes of two genomes.
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

// uniform returns a number from 0 up to but not including 1.
func uniform(r *rules.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// randomInt returns a whole number from low to high, low if high is lower.
func randomInt(r *rules.Rand, low, high int) int {
	if high <= low {
		return low
	}
	return low + r.Below(high-low+1)
}

// randomSubset marks from 1 to all of the n layers, each number of layers equally likely.
func randomSubset(n int, r *rules.Rand) []bool {
	chosen := make([]bool, n)
	for _, i := range sample(n, randomInt(r, 1, n), r) {
		chosen[i] = true
	}
	return chosen
}

// sample draws k of the numbers below n without repetition, in the order of drawing.
func sample(n, k int, r *rules.Rand) []int {
	all := indices(n)
	k = min(k, n)
	for i := range k {
		j := i + r.Below(n-i)
		all[i], all[j] = all[j], all[i]
	}
	return all[:k]
}
