package stats

import (
	"cmp"
	"maps"
	"slices"
)

// Pair is the deals between two bots in counts, which is all that a fit needs.
// Counts of separate deals can be added.
type Pair struct {
	A, B    int
	Deals   float64
	Score   float64 // sum of A's scores over the deals, 0..Deals
	Squares float64 // sum of their squares, for Intervals; a fit ignores it
}

// Bout is a match between two teams in counts: some deals of the same members.
type Bout struct {
	A, B  []int // the members by number from 0, at least one each
	Deals float64
	Score float64 // sum of A's scores over the deals, 0..Deals
}

// Anchor fixes the rating of one bot, to which the others are relative.
type Anchor struct {
	Bot int
	Elo float64
}

// prior is how many virtual deals a bot has tied, on average, against the opponents that it met, in
// proportion to their deals. It keeps the rating of a bot that won or lost everything finite, and
// is small compared with any useful test. Ties against a bot of average strength would compress the
// ratings of a whole ladder, where most bots meet only bots of similar strength; these do not.
const prior = 1.0

// Fit is the ratings of a tournament.
type Fit struct {
	Elo []float64 // by bot
	// Deals a bot has played, one for every opponent in it, or for every bout of teams.
	Deals []float64
	// Group is, by bot, the lowest bot that it is connected with through deals. The
	// deals do not compare bots of different groups: each group has the same mean.
	Group []int

	pairs   []Pair    // merged, with deals; none where teams play
	bouts   []Bout    // with deals
	virtual []float64 // by pair or bout, the prior's deals
	nats    []float64
	anchor  *Anchor
}

// FitPairs returns the ratings under which the counts are most likely: the
// Bradley-Terry model with a tie as half a win, and the prior. Two bots may be in
// several pairs, in either order. Without an anchor the ratings have mean 0.
func FitPairs(bots int, pairs []Pair, anchor *Anchor) *Fit {
	f := newFit(bots, anchor)
	for _, p := range pairs {
		if p.Deals > 0 {
			f.pairs = append(f.pairs, p)
			f.addDeals(p.Deals, p.A, p.B)
		}
	}
	for _, p := range f.pairs {
		f.virtual = append(f.virtual, f.virtualDeals(p.Deals, p.A, p.B))
	}
	return f.maximize()
}

// FitBouts returns the ratings under which the bouts of teams are most likely. It is the model
// of FitPairs with the mean of a team's members as its strength: a member's rating is what it adds
// to its teams, twice as much in a team of two. Duels between the members would not be enough:
// they ignore the partners, and count one result several times.
func FitBouts(bots int, bouts []Bout, anchor *Anchor) *Fit {
	f := newFit(bots, anchor)
	for _, b := range bouts {
		if b.Deals > 0 {
			f.bouts = append(f.bouts, b)
			f.addDeals(b.Deals, slices.Concat(b.A, b.B)...)
		}
	}
	for _, b := range f.bouts {
		f.virtual = append(f.virtual, f.virtualDeals(b.Deals, slices.Concat(b.A, b.B)...))
	}
	return f.maximize()
}

func newFit(bots int, anchor *Anchor) *Fit {
	f := &Fit{anchor: anchor, nats: make([]float64, bots), Deals: make([]float64, bots), Group: make([]int, bots)}
	for i := range f.Group {
		f.Group[i] = i
	}
	return f
}

// addDeals notes that some bots have played deals with each other.
func (f *Fit) addDeals(deals float64, bots ...int) {
	for _, b := range bots {
		f.Deals[b] += deals
		x, y := f.root(bots[0]), f.root(b)
		f.Group[max(x, y)] = min(x, y)
	}
}

func (f *Fit) root(i int) int {
	for f.Group[i] != i {
		f.Group[i] = f.Group[f.Group[i]]
		i = f.Group[i]
	}
	return i
}

// virtualDeals returns the virtual deals of a pair or bout with some deals: half of each bot's, in
// proportion to its deals. The other half is that of its opponents.
func (f *Fit) virtualDeals(deals float64, bots ...int) float64 {
	sum := 0.0
	for _, b := range bots {
		sum += deals / f.Deals[b]
	}
	return prior / 2 * sum
}

// maximize sets the ratings to the most likely ones.
func (f *Fit) maximize() *Fit {
	for i := range f.Group {
		f.Group[i] = f.root(i)
	}
	f.model().maximize(f.nats)
	f.center(f.nats)
	f.Elo = f.scale(f.nats)
	return f
}

func (f *Fit) model() *model {
	m := newModel(len(f.nats), f.pairs, f.bouts)
	for k, v := range f.virtual {
		if f.bouts == nil {
			p := f.pairs[k]
			m.wins[k], m.losses[k] = p.Score+v/2, p.Deals-p.Score+v/2
		} else {
			b := f.bouts[k]
			m.wins[k], m.losses[k] = b.Score+v/2, b.Deals-b.Score+v/2
		}
	}
	return m
}

// center shifts each group to the mean 0.
func (f *Fit) center(nats []float64) {
	sum, size := make([]float64, len(nats)), f.sizes()
	for i, r := range nats {
		sum[f.Group[i]] += r
	}
	for i := range nats {
		g := f.Group[i]
		nats[i] -= sum[g] / size[g]
	}
}

// sizes returns how many bots each group has.
func (f *Fit) sizes() []float64 {
	size := make([]float64, len(f.Group))
	for _, g := range f.Group {
		size[g]++
	}
	return size
}

// scale converts centred log-odds into Elo relative to the anchor.
func (f *Fit) scale(nats []float64) []float64 {
	zero, elo := 0.0, 0.0
	if f.anchor != nil {
		zero, elo = nats[f.anchor.Bot], f.anchor.Elo
	}
	out := make([]float64, len(nats))
	for i, r := range nats {
		out[i] = (r-zero)*eloPerNat + elo
	}
	return out
}

// Count returns the counts of the deals by pair, in the order of the bots.
func Count(deals []Deal) []Pair {
	sums := map[[2]int]Pair{}
	for _, deal := range deals {
		for _, d := range deal {
			sum := sums[[2]int{d.A, d.B}]
			sums[[2]int{d.A, d.B}] = Pair{A: d.A, B: d.B, Deals: sum.Deals + 1, Score: sum.Score + d.Score, Squares: sum.Squares + d.Score*d.Score}
		}
	}
	return slices.SortedFunc(maps.Values(sums), func(x, y Pair) int { return cmp.Or(x.A-y.A, x.B-y.B) })
}

// Reverse returns the same pair from B's view.
func (p Pair) Reverse() Pair {
	return Pair{A: p.B, B: p.A, Deals: p.Deals, Score: p.Deals - p.Score, Squares: max(p.Deals-2*p.Score+p.Squares, 0)}
}

// each calls do with every member and its part in the team's lead.
func (b Bout) each(do func(bot int, part float64)) {
	for _, bot := range b.A {
		do(bot, 1/float64(len(b.A)))
	}
	for _, bot := range b.B {
		do(bot, -1/float64(len(b.B)))
	}
}

// lead returns the sum of the values by the members' parts.
func (b Bout) lead(values []float64) float64 {
	sum := 0.0
	b.each(func(bot int, part float64) { sum += part * values[bot] })
	return sum
}
