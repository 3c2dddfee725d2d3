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

// nets is the species of GA-XN.
type nets struct {
	*Config
	mode       cards.Mode
	crossovers []crossover
	mutations  []mutation
	blank      *net.Net
	output     Genome // the output layer of all nets, where it is shared
}

// newNets returns the species of a valid configuration.
func newNets(c *Config, m cards.Mode) species[*net.Net] {
	b := &nets{Config: c, mode: m}
	b.crossovers, _ = named("", c.Crossovers, crossovers, func(o crossover) string { return o.name })
	b.mutations, _ = named("", c.Mutations, mutations, func(o mutation) string { return o.name })
	b.blank, _ = net.New(sizes(m, c.Layers), net.Linear)
	return b
}

// first makes the first generation. As published, all nets share their layers, and so they are
// all the same.
func (b *nets) first(n int, r *rules.Rand) (members []*net.Net) {
	for i := range n {
		born := b.birth(r)
		if b.keeps(defectLayers) && i > 0 {
			born = members[0].Clone()
		}
		members = append(members, born)
	}
	b.output = outputLayer(members[0].Clone())
	return members
}

// birth returns a net with random weights.
func (b *nets) birth(r *rules.Rand) *net.Net {
	n := b.blank.Clone()
	n.Randomize(r)
	return n
}

// outputLayer returns the genes of the last layer.
func outputLayer(n *net.Net) Genome {
	g := genesOf(n)
	return g.layer(g.layers() - 1)
}

func (b *nets) player() player[*net.Net] { return newNetPlayer(b.mode, b.blank) }

// trained returns the net: it learns nothing.
func (b *nets) trained(n *net.Net, _ []rl.Update) *net.Net { return n }

func (b *nets) children(p, q *net.Net, o *outcome, counts map[string]int, r *rules.Rand) (x, y *net.Net, work func()) {
	x, y = p.Clone(), q.Clone()
	if unit(r) < o.crossover {
		c := b.crossovers[r.Below(len(b.crossovers))]
		c.make(genesOf(p), genesOf(q), genesOf(x), genesOf(y), o.crossover, r)
		counts[c.name]++
	}
	for _, child := range [...]*net.Net{x, y} {
		if unit(r) < o.mutation {
			m := b.mutations[r.Below(len(b.mutations))]
			m.inSomeLayers(genesOf(child), r)
			counts[m.name]++
		}
	}
	b.keepDefects(x, y, r)
	return x, y, nil
}

// keepDefects does to children what the study's code does: their output layer is that of a new net, and
// when nets share their layers, both children have what was set last, the second child's.
func (b *nets) keepDefects(x, y *net.Net, r *rules.Rand) {
	if b.keeps(defectOutput) {
		for _, child := range [...]*net.Net{x, y} {
			from := b.output
			if !b.keeps(defectLayers) {
				from = outputLayer(b.birth(r))
			}
			outputLayer(child).copyFrom(from)
		}
	}
	if b.keeps(defectLayers) {
		genesOf(x).copyFrom(genesOf(y))
	}
}

func (b *nets) release([]*net.Net) {}

// figures returns how many nets are different, and the mean distance of the elite's genes to
// those of the best.
func (b *nets) figures(members []*net.Net, elite []int) ([]run.Value, uint64) {
	best, spread := genesOf(members[elite[0]]), 0.0
	for _, i := range elite {
		spread += best.distance(genesOf(members[i]))
	}
	return []run.Value{
		{Name: "nets", X: float64(distinct(members))},
		{Name: "spread", X: spread / float64(len(elite))},
	}, 0
}

// distinct returns how many nets are different.
func distinct(members []*net.Net) int {
	seen, seed := map[uint64]bool{}, maphash.MakeSeed()
	for _, n := range members {
		var h maphash.Hash
		h.SetSeed(seed)
		n.Write(&h) // without an error
		seen[h.Sum64()] = true
	}
	return len(seen)
}

func (b *nets) plots(f *run.Folder) error {
	return errors.Join(
		f.Plot("diversity", "Different nets of a generation", "generation", "nets", "nets"),
		f.Plot("spread", "Distance of the best nets", "generation", "mean difference of a gene", "spread"),
	)
}

func (b *nets) memory([]*net.Net, float64) (bytes, disk int64) {
	all := int64(b.blank.Params()) * 4 * int64(b.Population)
	return 2 * all, all + all/int64(b.Population)
}

func (b *nets) save(w io.Writer, n *net.Net) error { return n.Write(w) }

func (b *nets) load(r io.Reader) (*net.Net, error) {
	n := b.blank.Clone()
	return n, n.ReadWeights(r)
}

func (b *nets) describe(n *net.Net, members []*net.Net, h *model.Header, r *Report) {
	h.Encoding = features.Genetic
	n.Describe(h)
	r.Nets = distinct(members)
}

func (b *nets) body(w io.Writer, n *net.Net, _ *Report) error { return n.Write(w) }
