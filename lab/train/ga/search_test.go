//go:build !race || slowrace

package ga

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

func newBrisca(t *testing.T, c Config, workers int) *search[*net.Net] {
	t.Helper()
	s, err := newSearch(c, workers, nil, newNetSpecies)
	kit.Must(t, err)
	return s
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	return string(kit.Get[[]byte](t)(os.ReadFile(filepath.Join(dir, name))))
}

// TestSearchLearns searches for a known function, in which the value of a move is the square of its card's
// strength. The first nets choose at random; the last ones must come close to the optimum.
func TestSearchLearns(t *testing.T) {
	c := Default("brisca2")
	c.Layers, c.Rules, c.Positions, c.Playouts = []int{8}, "0000", 500, 1
	c.Policy, c.Crossover, c.Mutation, c.Crossovers, c.Mutations = policyCustom, 1, 1, []string{"uniform"}, []string{"noise"}
	s := newBrisca(t, c, 2)
	if _, err := s.evalPositions(context.Background()); err != nil {
		t.Fatal(err)
	}
	most, mean := 0.0, 0.0
	for _, j := range s.pool {
		top, sum := int32(0), int32(0)
		for i, action := range j.actions {
			strength := int32(baraja.Strength(cards.CardAt(int(action))))
			j.halfWins[i], j.points[i] = 0, strength*strength
			top, sum = max(top, j.points[i]), sum+j.points[i]
		}
		most += float64(top) / 500
		mean += float64(sum) / float64(len(j.actions)) / 500
	}
	reached := func() float64 {
		fit := kit.Get[[]Fitness](t)(s.positionFitness(context.Background()))
		return (fit[0].MeanPoints() - mean) / (most - mean)
	}
	first := reached()
	for range 100 {
		if _, err := s.step(context.Background()); err != nil {
			t.Fatal(err)
		}
		s.window = s.generation / poolGenerations // the positions stay
	}
	last := reached()
	t.Logf("of what is possible beyond chance: at first %.2f, at last %.2f", first, last)
	if math.Abs(first) > 0.3 || last < 0.8 {
		t.Errorf("of what is possible beyond chance: at first %.2f, at last %.2f", first, last)
	}
}

// TestElite checks that the parents are the best by wins, then by points, that they stay with KeepElite, and
// that children of exchanging crossovers have only their genes.
func TestElite(t *testing.T) {
	c := small("brisca2")
	c.Policy, c.Crossover, c.Mutation, c.Crossovers = policyCustom, 1, 0, []string{"one-point", "several-points", "uniform", "multivariate"}
	for _, keep := range []bool{true, false} {
		c.KeepElite = keep
		s := newBrisca(t, c, 1)
		before := slices.Clone(s.members)
		o := kit.Get[outcome](t)(s.step(context.Background()))
		for k, i := range o.elite[1:] {
			if compareFitness(o.fitness[o.elite[k]], o.fitness[i]) > 0 {
				t.Errorf("the elite %v is not in order: %+v", o.elite, o.fitness)
			}
		}
		for i := range before {
			if !slices.Contains(o.elite, i) && compareFitness(o.fitness[i], o.fitness[o.elite[len(o.elite)-1]]) < 0 {
				t.Errorf("individual %d is fitter than the elite %v: %+v", i, o.elite, o.fitness)
			}
		}
		for k, i := range o.elite {
			if stays := k < len(s.members) && reflect.DeepEqual(s.members[k], before[i]); stays != keep {
				t.Errorf("elite kept %v: place %d of the elite stays: %v", keep, k, stays)
			}
		}
		for _, n := range s.members {
			for layer, genes := range n.Genes() {
				for k, x := range genes {
					if !slices.ContainsFunc(o.elite, func(i int) bool { return before[i].Genes()[layer][k] == x }) {
						t.Fatalf("a child has a gene that none of the elite has")
					}
				}
			}
		}
	}
}

// TestDefects checks the effect of each defect of the study.
func TestDefects(t *testing.T) {
	step := func(published ...string) (s *search[*net.Net], before []*net.Net, o outcome) {
		c := small("brisca2")
		c.Defects, c.Policy, c.Crossover, c.Mutation = published, policyCustom, 1, 1
		s = newBrisca(t, c, 1)
		before = slices.Clone(s.members)
		o = kit.Get[outcome](t)(s.step(context.Background()))
		return s, before, o
	}
	last := func(n *net.Net) []float32 { return n.Genes()[len(n.Genes())-1] }

	if _, before, _ := step(); distinct(before) != 8 {
		t.Errorf("mended: %d different nets of 8 in the first generation", distinct(before))
	}
	s, before, _ := step(defectLayers)
	if distinct(before) != 1 {
		t.Errorf("layers: %d different nets in the first generation, not 1", distinct(before))
	}
	for i := 3; i+1 < len(s.members); i += 2 { // behind the elite of 3
		if !reflect.DeepEqual(s.members[i], s.members[i+1]) {
			t.Errorf("layers: children %d and %d of a pair are different", i, i+1)
		}
	}
	s, before, o := step(defectOutput)
	for i, child := range s.members[3:] {
		for _, parent := range o.elite {
			for k, x := range last(child) {
				if biases := len(last(child)) - 41; k < biases && x == last(before[parent])[k] {
					t.Errorf("output: child %d inherits gene %d of the output layer", i, k)
				}
			}
		}
	}
	s, before, _ = step(defectLayers, defectOutput)
	for i, n := range s.members {
		if !slices.Equal(last(n), last(before[0])) {
			t.Errorf("layers and output: the output layer of net %d is not that of all", i)
		}
	}
}

// TestPairings checks that every individual plays and that free seats are filled.
func TestPairings(t *testing.T) {
	c := small("brisca3")
	s := newBrisca(t, c, 1)
	pairs := s.pairings([]int{0, 1, 2, 3, 4, 5, 6, 7}, rules.NewRand(1))
	count := map[int]int{}
	for _, pair := range pairs {
		if len(pair) != 3 {
			t.Errorf("pairing %v: want three", pair)
		}
		for _, i := range pair {
			count[i]++
		}
	}
	if len(pairs) != 3 || len(count) != 8 {
		t.Errorf("pairings %v: want three in which all of eight play", pairs)
	}
}

// TestPlayer checks in games of every mode that a player makes the move with the highest output, for inputs
// computed from scratch, and allocates no memory.
func TestPlayer(t *testing.T) {
	for _, m := range cards.Modes() {
		testPlayer(t, m)
	}
}

func testPlayer(t *testing.T, m cards.Mode) {
	n := someNet(t, 1, sizes(m, []int{9, 7})...)
	player, work, e := newNetPlayer(m, n), n.NewWorkspace(), learned.GAEncoder(m)
	r := rules.NewRand(3)
	for game := range 20 {
		p, src := new(cards.Position), rules.FastStream(r)
		p.Deal(m, m.Rules()[game%len(m.Rules())], &src)
		player.Begin(r)
		for p.Turn() >= 0 {
			legal := p.Legal(nil)
			move := player.Choose(p, legal)
			var inputs net.Inputs
			e.AppendState(&inputs, p, p.Turn())
			out := n.Forward(work, &inputs)
			for _, other := range legal {
				if out[cards.Action(other)] > out[cards.Action(move)]+1e-5 {
					t.Fatalf("%s: move %d has a higher output than %d", m, other, move)
				}
			}
			if game == 0 {
				if allocated := testing.AllocsPerRun(3, func() { player.Choose(p, legal) }); allocated > 0 {
					t.Fatalf("%s: a move allocates %v times", m, allocated)
				}
			}
			p.Play(move)
		}
	}
}

// TestModel checks that a model is read as it was written, and that a damaged one is an error.
func TestModel(t *testing.T) {
	c := small("tute2")
	dir, _ := trained(t, c)
	data := []byte(read(t, dir, run.ModelFile))
	h, n, p, err := readModel(data)
	if err != nil || h.Kind != model.GA || h.Mode != "tute2" || p != nil || !slices.Equal(n.Sizes, []int{120, 8, 6, 45}) {
		t.Errorf("model %+v, error %v", h, err)
	}
	if _, _, _, err := readModel(data[:len(data)-9]); err == nil {
		t.Error("a model cut short is no error")
	}
}

func readModel(data []byte) (h model.Header, n *net.Net, p *policy.Model, err error) {
	h, b, err := model.Read(bytes.NewReader(data))
	if err == nil {
		n, p, err = learned.ReadGA(h, b)
	}
	return h, n, p, err
}

// TestSmallPopulation checks that the default number of parents is limited by the population.
func TestSmallPopulation(t *testing.T) {
	for _, variant := range Variants() {
		c := Method.Settings().(*Config)
		c.Variant, c.Population = variant, 4
		if err := c.Complete(func(name string) bool { return name == "variant" || name == "population" }); err != nil || c.Parents != 4 {
			t.Errorf("%s: %d have children, %v", variant, c.Parents, err)
		}
	}
}

// TestConfigErrors checks that errors of the configuration name the value and a remedy.
func TestConfigErrors(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`population cannot be "1001": try 2 to 1000`:                           func(c *Config) { c.Population = 1001 },
		`best cannot be "9": try 2 to 8`:                                       func(c *Config) { c.Parents = 9 },
		`layers "": a net needs a hidden layer: try 50-25`:                     func(c *Config) { c.Layers = nil },
		`net: layers "112-0-41": a layer has 1 to 4096 units`:                  func(c *Config) { c.Layers = []int{0} },
		`population cannot be "1000": its nets have`:                           func(c *Config) { c.Population, c.Layers = 1000, []int{4096, 4096} },
		`rules "012" do not exist in mode brisca2: try all, none, or 4 digits`: func(c *Config) { c.Rules = "012" },
		`crossover "x" does not exist: try some of one-point,`:                 func(c *Config) { c.Crossovers = []string{"x"} },
		`mutation "": at least one is needed: try some of swap,`:               func(c *Config) { c.Mutations = nil },
	} {
		c := small("brisca2")
		change(&c)
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s...", err, want)
		}
	}
}
