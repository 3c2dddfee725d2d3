package stats

import (
	"cmp"
	"maps"
	"slices"
)

// Pair sums up all results between the bots A and B. A deal (all games with one shuffle, one game for each seating
// of the bots) counts as one score. Two Pairs from different deals can be added field by field.
type Pair struct {
	A, B    int
	Deals   float64
	Score   float64 // sum of A's scores, from 0 to Deals
	Squares float64 // sum of the squares of A's scores; only Intervals uses it
}

// Bout sums up all results between two teams of bots, A and B. A deal (all games with one shuffle, one game for
// each seating of the bots) counts as one score.
type Bout struct {
	A, B  []int // bots in each team, at least one, numbered from 0
	Deals float64
	Score float64 // sum of A's scores, from 0 to Deals
}

// Anchor fixes the rating of one bot, so that all other ratings are relative to it.
type Anchor struct {
	Bot int
	Elo float64
}

// prior is the average number of virtual ties that each bot gets in addition to its real results. They are divided
// among its opponents in proportion to the real deals (shuffles). They keep the rating of a bot that won or lost
// everything finite, and are few compared with the deals of any useful test. Ties with an invented bot of average
// strength would instead compress the ratings of a ladder, because most bots play only against bots of similar
// strength.
const prior = 1.0

// Fit is a set of ratings that FitPairs or FitBouts has estimated.
type Fit struct {
	Elo []float64 // ratings by bot
	// Deals is the number of deals that each bot played. FitPairs counts a deal once for every opponent, FitBouts
	// once.
	Deals []float64
	// Group has the number of each bot's group. Bots that have played each other, directly or through other bots,
	// are in the same group. The number of a group is the lowest number of its bots. Ratings in different groups
	// cannot be compared, because each group has the same mean.
	Group []int

	pairs   []Pair    // those with at least one deal; empty after FitBouts
	bouts   []Bout    // those with at least one deal; empty after FitPairs
	virtual []float64 // number of virtual tied deals, by pair or bout
	nats    []float64 // rating of each bot in log-odds, with mean 0 in each group
	anchor  *Anchor
}

// FitPairs returns the most likely ratings of the bots 0 to bots-1, given their results in pairs. It uses the
// Bradley-Terry model, in which a tie is half a win. A few virtual ties keep all ratings finite. The same two
// bots may be in several pairs, in either order. If anchor is nil, the ratings have mean 0.
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

// FitBouts returns the most likely ratings of the bots 0 to bots-1, given results of teams. It uses the model of
// FitPairs; the strength of a team is the mean rating of its members. FitPairs would instead ignore the partners
// and count one result several times.
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

// addDeals records that the given bots played with each other in the given number of deals (shuffles of the cards).
// It adds this number to the Deals of each bot and merges the groups of the bots into one; see Fit.Group.
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

// virtualDeals returns the number of virtual ties to add to the results of the given bots, which played with each
// other in the given number of deals (shuffles of the cards). Each bot contributes prior/2, multiplied by the share
// of these deals in all its deals.
func (f *Fit) virtualDeals(deals float64, bots ...int) float64 {
	sum := 0.0
	for _, b := range bots {
		sum += deals / f.Deals[b]
	}
	return prior / 2 * sum
}

// maximize computes the most likely ratings, stores them in f, and returns f.
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

// center shifts nats, the ratings of all bots in log-odds, so that each group of connected bots has mean 0.
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

// sizes returns the number of bots in each group, indexed by the number of the group.
func (f *Fit) sizes() []float64 {
	size := make([]float64, len(f.Group))
	for _, g := range f.Group {
		size[g]++
	}
	return size
}

// scale converts nats, the ratings of all bots in log-odds, to Elo. If there is an anchor, all ratings are
// shifted so that the anchor has its fixed rating.
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

// Count sums up the results of all deals (shuffles): it returns a Pair for every two bots that were opponents,
// sorted by A, then B.
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

// Reverse returns the same results with A and B exchanged.
func (p Pair) Reverse() Pair {
	return Pair{A: p.B, B: p.A, Deals: p.Deals, Score: p.Deals - p.Score, Squares: max(p.Deals-2*p.Score+p.Squares, 0)}
}

// each calls do for every member of both teams. part is the weight of the member's rating in the strength of team A
// minus the strength of team B: 1/n in team A and -1/n in team B, where n is the size of the team.
func (b Bout) each(do func(bot int, part float64)) {
	for _, bot := range b.A {
		do(bot, 1/float64(len(b.A)))
	}
	for _, bot := range b.B {
		do(bot, -1/float64(len(b.B)))
	}
}

// lead returns the mean of values over the members of team A, minus the mean over the members of team B. values has
// an element for each bot.
func (b Bout) lead(values []float64) float64 {
	sum := 0.0
	b.each(func(bot int, part float64) { sum += part * values[bot] })
	return sum
}
