package ga

import (
	"errors"
	"hash/maphash"
	"io"

	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// netSpecies has the operations of a genetic search whose individuals are nets (the variant xn). A net ranks all
// moves of a position in one pass.
type netSpecies struct {
	*Config
	mode       cards.Mode
	crossovers []crossover
	mutations  []mutation
	blank      *net.Net
	output     Genome // output layer of all nets, if they share it
}

func newNetSpecies(c *Config, m cards.Mode) species[*net.Net] {
	b := &netSpecies{Config: c, mode: m}
	b.crossovers, _ = selectNamed("", c.Crossovers, crossovers, func(o crossover) string { return o.name })
	b.mutations, _ = selectNamed("", c.Mutations, mutations, func(o mutation) string { return o.name })
	b.blank, _ = net.New(sizes(m, c.Layers), net.Linear)
	return b
}

// firstGeneration returns n random nets. With the defect "layers" all nets are the same.
func (b *netSpecies) firstGeneration(n int, r *rules.Rand) (members []*net.Net) {
	for i := range n {
		born := b.randomNet(r)
		if b.hasDefect(defectLayers) && i > 0 {
			born = members[0].Clone()
		}
		members = append(members, born)
	}
	b.output = outputLayer(members[0].Clone())
	return members
}

func (b *netSpecies) randomNet(r *rules.Rand) *net.Net {
	n := b.blank.Clone()
	n.Randomize(r)
	return n
}

// outputLayer returns the weights and biases of the last layer of n. They share memory with n.
func outputLayer(n *net.Net) Genome {
	g := genesOf(n)
	return g.layer(g.layers() - 1)
}

func (b *netSpecies) player() player[*net.Net] { return newNetPlayer(b.mode, b.blank) }

// applyLessons returns n unchanged, because nets do not learn from the games that they play in a search.
func (b *netSpecies) applyLessons(n *net.Net, _ []rl.Update) *net.Net { return n }

func (b *netSpecies) breed(p, q *net.Net, o *outcome, counts map[string]int, r *rules.Rand) (x, y *net.Net, work func()) {
	x, y = p.Clone(), q.Clone()
	if uniform(r) < o.crossover {
		c := b.crossovers[r.Below(len(b.crossovers))]
		c.cross(genesOf(p), genesOf(q), genesOf(x), genesOf(y), o.crossover, r)
		counts[c.name]++
	}
	for _, child := range [...]*net.Net{x, y} {
		if uniform(r) < o.mutation {
			m := b.mutations[r.Below(len(b.mutations))]
			m.inSomeLayers(genesOf(child), r)
			counts[m.name]++
		}
	}
	b.applyDefects(x, y, r)
	return x, y, nil
}

// applyDefects reproduces defects of the program of R. Arjonilla's thesis, if selected, in two children. With
// "output" both get the output layer of a new net; with "layers" x becomes a copy of y.
func (b *netSpecies) applyDefects(x, y *net.Net, r *rules.Rand) {
	if b.hasDefect(defectOutput) {
		for _, child := range [...]*net.Net{x, y} {
			from := b.output
			if !b.hasDefect(defectLayers) {
				from = outputLayer(b.randomNet(r))
			}
			outputLayer(child).copyFrom(from)
		}
	}
	if b.hasDefect(defectLayers) {
		genesOf(x).copyFrom(genesOf(y))
	}
}

func (b *netSpecies) release([]*net.Net) {}

// metrics returns two numbers about a generation: how many different nets it has, and the mean distance between the
// genes of an elite net and the genes of the best net. The second result counts rejected pairs; it is 0 for nets.
func (b *netSpecies) metrics(members []*net.Net, elite []int) ([]run.Metric, uint64) {
	best, spread := genesOf(members[elite[0]]), 0.0
	for _, i := range elite {
		spread += best.distance(genesOf(members[i]))
	}
	return []run.Metric{
		{Name: "nets", Value: float64(distinct(members))},
		{Name: "spread", Value: spread / float64(len(elite))},
	}, 0
}

func distinct(members []*net.Net) int {
	seen, seed := map[uint64]bool{}, maphash.MakeSeed()
	for _, n := range members {
		var h maphash.Hash
		h.SetSeed(seed)
		n.Write(&h) // writing to a hash never fails
		seen[h.Sum64()] = true
	}
	return len(seen)
}

func (b *netSpecies) drawPlots(f *run.Folder) error {
	return errors.Join(
		f.Plot("diversity", "Different nets of a generation", "generation", "nets", "nets"),
		f.Plot("spread", "Distance of the best nets", "generation", "mean difference of a gene", "spread"),
	)
}

func (b *netSpecies) memoryUse([]*net.Net, float64) (bytes, disk int64) {
	all := int64(b.blank.ParamCount()) * 4 * int64(b.Population)
	return 2 * all, all + all/int64(b.Population)*int64(1+b.Parents)
}

func (b *netSpecies) save(w io.Writer, n *net.Net) error { return n.Write(w) }

func (b *netSpecies) load(r io.Reader) (*net.Net, error) {
	n := b.blank.Clone()
	return n, n.ReadWeights(r)
}

func (b *netSpecies) describe(n *net.Net, members []*net.Net, h *model.Header, r *SearchReport) {
	h.Encoding = features.Genetic
	n.Describe(h)
	r.Nets = distinct(members)
}

func (b *netSpecies) writeModel(w io.Writer, n *net.Net, _ *SearchReport) error { return n.Write(w) }
