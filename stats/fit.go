package stats

import (
	"cmp"
	"maps"
	"slices"
)

// Pair summarizes the deals between two bots by counts. The counts of separate deals can be added.
type Pair struct {
	A, B    int
	Deals   float64
	Score   float64 // sum of A's scores, from 0 to Deals
	Squares float64 // sum of the squares of A's scores, for Intervals; ratings ignore it
}

// Bout is a match between two teams, summarized by counts over deals with the same members.
type Bout struct {
	A, B  []int // numbers of the members, from 0; at least one in each team
	Deals float64
	Score float64 // sum of A's scores, from 0 to Deals
}

// Anchor fixes the rating of one bot; all other ratings are relative to it.
type Anchor struct {
	Bot int
	Elo float64
}

// prior is the number of virtual tied deals that each bot has, on average, against the opponents that it has
// played, in proportion to the deals with each. It keeps the rating of a bot that won or lost everything
// finite, and is small compared with any useful test. Ties against a bot of average strength would compress
// the ratings of a ladder, because most bots play only against bots of similar strength.
const prior = 1.0

// Fit is the result of estimating ratings.
type Fit struct {
	Elo []float64 // ratings by bot
	// Deals counts the deals of each bot. In pairs a deal counts once for every opponent, in bouts once.
	Deals []float64
	// Group has, for each bot, the lowest number among the bots that deals connect it with, directly or
	// through other bots. Ratings of different groups cannot be compared: each group has the same mean.
	Group []int

	pairs   []Pair    // with at least one deal; empty for bouts
	bouts   []Bout    // with at least one deal
	virtual []float64 // by pair or bout, number of virtual deals of the prior
	nats    []float64 // ratings in log-odds, with mean 0 in each group
	anchor  *Anchor
}

// FitPairs returns the most likely ratings for the counts, in the Bradley-Terry model with a tie as half a
// win. A small prior of tied deals keeps all ratings finite. The bots are numbered from 0 to bots-1. The same
// two bots may be in several pairs, in either order. If anchor is nil, the ratings have mean 0.
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

// FitBouts returns the most likely ratings for bouts of teams. The model is that of FitPairs, with the mean
// rating of a team's members as its strength. A member's rating is what it adds to its teams, twice as much
// in a team of two. FitPairs with the duels between members would ignore the partners and count one result
// several times.
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

// addDeals counts deals that the bots have played with each other and joins their groups.
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

// virtualDeals returns the number of virtual deals of a pair or bout: half of each bot's virtual deals, in
// proportion to its deals. Its opponents have the other half.
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

// center shifts the ratings of each group to mean 0.
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

// sizes returns, indexed by group, the number of bots in each.
func (f *Fit) sizes() []float64 {
	size := make([]float64, len(f.Group))
	for _, g := range f.Group {
		size[g]++
	}
	return size
}

// scale converts centered log-odds to Elo relative to the anchor.
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

// Count summarizes deals by pair of bots, sorted by A, then B.
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

// Reverse returns the same pair from the view of B.
func (p Pair) Reverse() Pair {
	return Pair{A: p.B, B: p.A, Deals: p.Deals, Score: p.Deals - p.Score, Squares: max(p.Deals-2*p.Score+p.Squares, 0)}
}

// each calls do with every member and its weight in the difference between the teams' strengths.
func (b Bout) each(do func(bot int, part float64)) {
	for _, bot := range b.A {
		do(bot, 1/float64(len(b.A)))
	}
	for _, bot := range b.B {
		do(bot, -1/float64(len(b.B)))
	}
}

// lead returns the mean of A's values minus that of B's.
func (b Bout) lead(values []float64) float64 {
	sum := 0.0
	b.each(func(bot int, part float64) { sum += part * values[bot] })
	return sum
}
