package rating

import (
	"errors"
	"fmt"
	"math"
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

// Anchor fixes the rating of one bot, to which the others are relative.
type Anchor struct {
	Bot int
	Elo float64
}

// Options are the options of a fit; the zero value is the default.
type Options struct {
	// Prior is how many virtual deals a bot has tied, on average, against the
	// opponents that it met, in proportion to their deals. It keeps the rating of
	// a bot that won or lost everything finite. Ties against a bot of average
	// strength would compress the ratings of a whole ladder, where most bots meet
	// only bots of similar strength; these do not. 0 stands for DefaultPrior.
	Prior float64
	// Anchor, if any; else the ratings have mean 0.
	Anchor *Anchor
}

// DefaultPrior is the default of Options.Prior, small compared with any useful test.
const DefaultPrior = 1.0

// maxBots bounds indices and memory.
const maxBots = 1 << 20

// Fit is the ratings of a tournament.
type Fit struct {
	Elo []float64 // by bot
	// Deals a bot has played, one for every opponent in it.
	Deals []float64
	// Group is, by bot, the lowest bot that it is connected with through deals. The
	// deals do not compare bots of different groups: each group has the same mean.
	Group []int

	pairs   []Pair    // merged, with deals
	virtual []float64 // by pair, the prior's deals
	nats    []float64
	options Options
}

// FitPairs returns the ratings under which the counts are most likely: the
// Bradley-Terry model with a tie as half a win, and the prior. Two bots may be in
// several pairs, in either order.
func FitPairs(bots int, pairs []Pair, o Options) (*Fit, error) {
	if err := o.check(bots); err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if err := p.check(bots); err != nil {
			return nil, err
		}
	}
	f := &Fit{pairs: merge(bots, pairs), options: o, nats: make([]float64, bots), Deals: make([]float64, bots)}
	f.pairs = slices.DeleteFunc(f.pairs, func(p Pair) bool { return p.Deals == 0 })
	f.Group = groups(bots, f.pairs)
	for _, p := range f.pairs {
		f.Deals[p.A] += p.Deals
		f.Deals[p.B] += p.Deals
	}
	f.spreadPrior()
	m := f.model()
	m.maximise(f.nats)
	f.centre(f.nats)
	f.Elo = o.scale(f.nats)
	return f, nil
}

// spreadPrior distributes half of each bot's virtual deals over its pairs, in
// proportion to the deals; the other half is that of its opponents.
func (f *Fit) spreadPrior() {
	half := f.options.prior() / 2
	f.virtual = make([]float64, len(f.pairs))
	for k, p := range f.pairs {
		f.virtual[k] = half * (p.Deals/f.Deals[p.A] + p.Deals/f.Deals[p.B])
	}
}

func (f *Fit) model() *model {
	m := newModel(len(f.nats), f.pairs)
	for k, p := range f.pairs {
		m.won[k] = p.Score + f.virtual[k]/2
		m.lost[k] = p.Deals - p.Score + f.virtual[k]/2
	}
	return m
}

// centre shifts each group to the mean 0.
func (f *Fit) centre(nats []float64) {
	sum, size := make([]float64, len(nats)), make([]float64, len(nats))
	for i, r := range nats {
		sum[f.Group[i]] += r
		size[f.Group[i]]++
	}
	for i := range nats {
		g := f.Group[i]
		nats[i] -= sum[g] / size[g]
	}
}

// FitDeals is FitPairs on the counts of the deals.
func FitDeals(bots int, deals []Deal, o Options) (*Fit, error) {
	pairs, err := Count(bots, deals)
	if err != nil {
		return nil, err
	}
	return FitPairs(bots, pairs, o)
}

// Count returns the counts of the deals by pair, in the order of the bots, with A < B.
func Count(bots int, deals []Deal) ([]Pair, error) {
	if err := checkCount(bots); err != nil {
		return nil, err
	}
	n := 0
	for _, deal := range deals {
		n += len(deal)
	}
	pairs := make([]Pair, 0, n)
	for _, deal := range deals {
		for _, d := range deal {
			if err := checkBots(d.A, d.B, bots); err != nil {
				return nil, err
			}
			if err := d.check(); err != nil {
				return nil, err
			}
			pairs = append(pairs, Pair{A: d.A, B: d.B, Deals: 1, Score: d.Score, Squares: d.Score * d.Score})
		}
	}
	return merge(bots, pairs), nil
}

func checkCount(bots int) error {
	if bots < 0 || bots > maxBots {
		return fmt.Errorf("rating: bots cannot be %d: try up to %d", bots, maxBots)
	}
	return nil
}

func (o Options) check(bots int) error {
	if err := checkCount(bots); err != nil {
		return err
	}
	if !(o.Prior >= 0) || math.IsInf(o.Prior, 0) {
		return fmt.Errorf("rating: prior %v is not a number of deals above 0", o.Prior)
	}
	if o.Prior > 0 && o.Prior < 1e-6 {
		return fmt.Errorf("rating: prior %v is too small to bound the rating of a bot that won everything: try 1e-6 or more", o.Prior)
	}
	if a := o.Anchor; a != nil {
		if a.Bot < 0 || a.Bot >= bots {
			return fmt.Errorf("rating: anchor %d is not one of the %d bots: they are numbered from 0", a.Bot, bots)
		}
		if math.IsNaN(a.Elo) || math.IsInf(a.Elo, 0) {
			return errors.New("rating: the anchor's Elo is not a finite number")
		}
	}
	return nil
}

func (o Options) prior() float64 {
	if o.Prior == 0 {
		return DefaultPrior
	}
	return o.Prior
}

// scale converts centred log-odds into Elo relative to the anchor.
func (o Options) scale(nats []float64) []float64 {
	zero, elo := 0.0, 0.0
	if o.Anchor != nil {
		zero, elo = nats[o.Anchor.Bot], o.Anchor.Elo
	}
	out := make([]float64, len(nats))
	for i, r := range nats {
		out[i] = (r-zero)*eloPerNat + elo
	}
	return out
}

func (p Pair) check(bots int) error {
	if err := checkBots(p.A, p.B, bots); err != nil {
		return err
	}
	if !(p.Deals >= 0) || math.IsInf(p.Deals, 0) {
		return fmt.Errorf("rating: bots %d and %d have %v deals: a count is 0 or more", p.A, p.B, p.Deals)
	}
	// Sums of scores that are not halves may exceed their bounds by rounding.
	if slack := 1e-9 * (1 + p.Deals); !(p.Score >= -slack && p.Score <= p.Deals+slack) {
		return fmt.Errorf("rating: bot %d scored %v in %v deals against bot %d: give the sum, from 0 to the deals",
			p.A, p.Score, p.Deals, p.B)
	}
	if !(p.Squares >= 0 && p.Squares <= p.Deals*(1+1e-9)+1e-9) {
		return fmt.Errorf("rating: bots %d and %d have %v as sum of squares in %v deals: it goes from 0 to the deals",
			p.A, p.B, p.Squares, p.Deals)
	}
	return nil
}

// Reverse returns the same pair from B's view.
func (p Pair) Reverse() Pair {
	return Pair{A: p.B, B: p.A, Deals: p.Deals, Score: p.Deals - p.Score, Squares: max(p.Deals-2*p.Score+p.Squares, 0)}
}

// groups returns the lowest bot of every bot's connected component.
func groups(bots int, pairs []Pair) []int {
	parent := make([]int, bots)
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, p := range pairs {
		a, b := root(p.A), root(p.B)
		parent[max(a, b)] = min(a, b)
	}
	for i := range parent {
		parent[i] = root(i)
	}
	return parent
}
