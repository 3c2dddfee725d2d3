//go:build !race || slowrace

package ga

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

var (
	parentA = []float32{1, 2, 3, 4, 5, 6, 7, 8}
	parentB = []float32{10, 20, 30, 40, 50, 60, 70, 80}
)

// TestCrossovers compares each crossover with an example computed by hand, for given random numbers.
func TestCrossovers(t *testing.T) {
	for _, test := range []struct {
		name  string
		cross func(x, y []float32)
		x, y  []float32
	}{
		{"one point, behind gene 3", func(x, y []float32) { multivariate(parentA, parentB, x, y, []int{3}, everySecond(2)) },
			[]float32{1, 2, 3, 40, 50, 60, 70, 80}, []float32{10, 20, 30, 4, 5, 6, 7, 8}},
		{"several points, behind 2, 5 and 7", func(x, y []float32) {
			multivariate(parentA, parentB, x, y, []int{2, 5, 7}, everySecond(4))
		},
			[]float32{1, 2, 30, 40, 50, 6, 7, 80}, []float32{10, 20, 3, 4, 5, 60, 70, 8}},
		{"average", func(x, y []float32) { average(parentA, parentB, x); copy(y, x) },
			[]float32{5.5, 11, 16.5, 22, 27.5, 33, 38.5, 44}, []float32{5.5, 11, 16.5, 22, 27.5, 33, 38.5, 44}},
		{"multivariate, the first and third of three segments", func(x, y []float32) {
			multivariate(parentA, parentB, x, y, []int{2, 6}, []bool{true, false, true})
		}, []float32{10, 20, 3, 4, 5, 6, 70, 80}, []float32{1, 2, 30, 40, 50, 60, 7, 8}},
		{"arithmetic, alpha 1/4", func(x, y []float32) { arithmetic(parentA, parentB, x, y, 0.25) },
			[]float32{3.25, 6.5, 9.75, 13, 16.25, 19.5, 22.75, 26}, []float32{7.75, 15.5, 23.25, 31, 38.75, 46.5, 54.25, 62}},
	} {
		x, y := make([]float32, 8), make([]float32, 8)
		test.cross(x, y)
		if !slices.Equal(x, test.x) || !slices.Equal(y, test.y) {
			t.Errorf("%s: children %v and %v, want %v and %v", test.name, x, y, test.x, test.y)
		}
	}
}

// someNet returns a net with random weights and biases, so that no two genes are equal.
func someNet(t interface{ Fatal(...any) }, seed uint64, sizes ...int) *net.Net {
	n, err := net.New(sizes, net.Linear)
	if err != nil {
		t.Fatal(err)
	}
	r := rules.NewRand(seed)
	for _, v := range n.Genes() {
		for i := range v {
			v[i] = float32(uniform(r)) - 0.5
		}
	}
	return n
}

// TestCrossoverProperty checks every crossover on random nets. The parents do not change. With exchanging
// crossovers each gene comes from the same place of one parent, and the other child has that of the other
// parent. With the others each gene is between those of the parents.
func TestCrossoverProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 2, 4).Draw(t, "sizes")
		c := crossovers[rapid.IntRange(0, len(crossovers)-1).Draw(t, "crossover")]
		seed := rapid.Uint64().Draw(t, "seed")
		a, b := someNet(t, seed, sizes...), someNet(t, seed+1, sizes...)
		x, y := someNet(t, 1, sizes...), someNet(t, 2, sizes...)
		wasA, wasB := a.Clone(), b.Clone()
		c.cross(genesOf(a), genesOf(b), genesOf(x), genesOf(y), 0.5, rules.NewRand(seed))
		if !reflect.DeepEqual(a, wasA) || !reflect.DeepEqual(b, wasB) {
			t.Fatalf("%s changes a parent", c.name)
		}
		exchanges := c.name != "average-flat" && c.name != "arithmetic"
		for i, v := range genesOf(a) {
			for k, p := range v {
				q, x, y := genesOf(b)[i][k], genesOf(x)[i][k], genesOf(y)[i][k]
				if exchanges && !(x == p && y == q || x == q && y == p) {
					t.Fatalf("%s: from %v and %v came %v and %v", c.name, p, q, x, y)
				}
				low, high := min(p, q)-1e-6, max(p, q)+1e-6
				if x < low || x > high || y < low || y > high {
					t.Fatalf("%s: %v and %v are not between %v and %v", c.name, x, y, p, q)
				}
			}
		}
	})
}

// TestCrossoversMix checks that the children of each crossover differ from both parents, and that no cut is
// at an end.
func TestCrossoversMix(t *testing.T) {
	for _, c := range crossovers {
		mixed := 0
		for seed := range uint64(100) {
			a, b := someNet(t, 1, 6, 5, 4), someNet(t, 2, 6, 5, 4)
			x, y := a.Clone(), b.Clone()
			c.cross(genesOf(a), genesOf(b), genesOf(x), genesOf(y), 0.5, rules.NewRand(seed))
			if !reflect.DeepEqual(x, a) && !reflect.DeepEqual(x, b) && !reflect.DeepEqual(y, a) && !reflect.DeepEqual(y, b) {
				mixed++
			}
		}
		if mixed < 95 {
			t.Errorf("%s: %d of 100 pairs of children differ from both parents", c.name, mixed)
		}
	}
	r := rules.NewRand(7)
	for range 1000 {
		points := randomCuts(12, r)
		if len(points) < 2 || len(points) > 6 || points[0] < 1 || points[len(points)-1] > 11 || !slices.IsSorted(points) {
			t.Fatalf("cuts %v: want 2 to 6 places from 1 to 11, rising", points)
		}
	}
}

// TestPolicies checks the ratios of the policies in the first, the middle and the last generation.
func TestPolicies(t *testing.T) {
	for _, test := range []struct {
		name       string
		down       bool
		generation int
		crossover  float64
		mutation   float64
	}{
		{"ilm-dhc", false, 0, 1, 0},
		{"ilm-dhc", false, 25, 0.75, 0.25},
		{"ilm-dhc", false, 100, 0, 1},
		{"dhm-ilc", false, 0, 0, 1},
		{"dhm-ilc", false, 25, 0.25, 0.75},
		{"dhm-ilc", false, 100, 1, 0},
		{"half", false, 3, 0.5, 0.5},
		{"tuned", false, 3, 0.93, 0.03},
		{"tuned", true, 3, 0.90, 0.03},
		{"custom", false, 3, 0.8, 0.2},
	} {
		config := Config{Policy: test.name, Crossover: 0.8, Mutation: 0.2, Generations: 101}
		if test.down {
			config.Defects = []string{defectTuned}
		}
		if c, m := config.ratios(test.generation); c != test.crossover || m != test.mutation {
			t.Errorf("%s: generation %d has %v and %v, want %v and %v", test.name, test.generation, c, m, test.crossover, test.mutation)
		}
	}
}
