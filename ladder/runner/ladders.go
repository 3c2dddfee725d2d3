package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules"
)

// ladders offers new matches of the ladders.
//
//   - The ladder that cost least lately comes first; those on which house bots alone play come last.
//   - A ladder whose versions all have had enough matches has one in Options.Pause, and one among house
//     bots alone in Options.Idle.
//   - A match is stored when it begins, together with others. Until then its pool knows of it under a
//     number below 0.
type ladders struct {
	*Runner
	costs
	rand     *rand.Rand
	variants map[string]*rules.Variant // by ladder, as what follows
	last     map[string]time.Time      // when its last match got a core
	idled    map[string]time.Time      // when its last match among known house bots alone did
	fresh    int64                     // the last number of a match that is not stored
}

func newLadders(r *Runner) ladders {
	return ladders{
		Runner: r, costs: costs{spent: map[string]float64{}, recent: map[string]float64{}},
		rand:     rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		variants: map[string]*rules.Variant{}, last: map[string]time.Time{}, idled: map[string]time.Time{},
	}
}

func (l *ladders) next(ctx context.Context, at freeCore) (*job, error) {
	l.fade(at.now)
	may := func(p *matchmaking.Player) bool { return l.mayPlay(ctx, at, p.ID, p.Remote) }
	var houses []ladder.Ladder
	for _, x := range l.order(l.Ladders) {
		if l.backoffs.active(ladderName(x.Name), at.now) {
			continue
		}
		p, err := l.Store.Pool(ctx, x.Name)
		if err != nil {
			return nil, fmt.Errorf("ladder %s: %w", x.Name, err)
		}
		people := p.Contains(func(p *matchmaking.Player) bool { return !p.House && may(p) })
		if l.roomOf(at).Check("", l.variants[x.Name], slices.Repeat([]bool{!people}, x.Bots)) != nil {
			continue
		}
		if !people {
			houses = append(houses, x)
			continue
		}
		if j, err := l.of(ctx, at, x, may); j != nil || err != nil {
			return j, err
		}
	}
	for _, x := range houses {
		if j, err := l.of(ctx, at, x, may); j != nil || err != nil {
			return j, err
		}
	}
	return nil, nil
}

// of returns a match of a ladder; nil when not enough of its versions may play, or it pauses.
func (l *ladders) of(ctx context.Context, at freeCore, x ladder.Ladder, may func(*matchmaking.Player) bool) (*job, error) {
	c := matchmaking.Choice{May: may}
	if at.now.Before(l.idled[x.Name].Add(l.Idle)) {
		c.Idle = known
	}
	for {
		p, err := l.Store.Pool(ctx, x.Name)
		if err != nil {
			return nil, fmt.Errorf("ladder %s: %w", x.Name, err)
		}
		if l.pauses(x.Name, p, may, at.now) {
			return nil, nil
		}
		slots, unknown := p.Next(c, l.rand)
		if slots != nil {
			return l.job(ctx, x, p, slots)
		}
		if unknown == 0 {
			return nil, nil
		}
		if err := l.Store.Learn(ctx, x.Name, unknown); err != nil {
			return nil, fmt.Errorf("ladder %s: counting meetings: %w", x.Name, err)
		}
	}
}

// known reports whether a version is a house bot that has enough matches.
func known(p *matchmaking.Player) bool { return p.House && p.Matches >= ladder.EnoughMatches }

// job returns a match that is not stored yet.
func (l *ladders) job(ctx context.Context, x ladder.Ladder, p *matchmaking.Pool, slots []int64) (*job, error) {
	m := &ladder.Match{
		Ladder: x.Name, Rated: true, Game: x.Game, Options: x.Options, Clock: x.Clock, Deals: x.Deals, Versions: slots, State: ladder.Waiting,
	}
	j := &job{match: m, asNew: &store.NewMatch{Ladder: x.Name, Versions: slots, Allowance: l.Allowance}, pool: p}
	for _, id := range slots {
		v, err := l.version(ctx, id)
		if err != nil {
			return nil, err
		}
		j.versions = append(j.versions, v.Version)
		m.Bots, m.Numbers, m.Remote = append(m.Bots, v.Bot), append(m.Numbers, v.Number), append(m.Remote, v.Remote)
	}
	j.idle = !p.Contains(func(p *matchmaking.Player) bool { return slices.Contains(slots, p.ID) && !known(p) })
	return j, nil
}

// pauses reports whether all versions of a ladder that may play have enough matches and the last
// one was less than Options.Pause ago.
func (l *ladders) pauses(name string, pool *matchmaking.Pool, may func(*matchmaking.Player) bool, now time.Time) bool {
	last, played := l.last[name]
	return played && now.Before(last.Add(l.Pause)) &&
		!pool.Contains(func(p *matchmaking.Player) bool { return p.Matches < ladder.EnoughMatches && may(p) })
}

// pausesUntil returns when the first ladder that may pause can have a match again; zero when none pauses.
func (l *ladders) pausesUntil(now time.Time) (first time.Time) {
	if l.Pause == 0 && l.Idle == 0 {
		return first
	}
	for name, last := range l.last {
		for _, until := range []time.Time{last.Add(l.Pause), l.idled[name].Add(l.Idle)} {
			if until.After(now) {
				first = earliest(first, until)
			}
		}
	}
	return first
}

func (l *ladders) began(j *job, now time.Time) {
	l.fade(now)
	j.charged = l.charge(j.ladder())
	if j.asNew == nil {
		return
	}
	if l.last[j.ladder()] = now; j.idle {
		l.idled[j.ladder()] = now
	}
	l.fresh--
	j.inPool = l.fresh
	j.pool.Open(j.inPool, j.match.Versions)
}

// stored notes that a match is stored, or is not to be.
func (l *ladders) stored(j *job) {
	if j.asNew != nil {
		j.pool.Close(j.inPool)
	}
}

func (l *ladders) ended(j *job, took time.Duration, now time.Time) {
	l.fade(now)
	l.correct(j.ladder(), j.charged, took)
}

// costHalf is the half-life of a ladder's costs.
const costHalf = 10 * time.Minute

// costs has the recent costs of the ladders, in core seconds. From its start a match
// counts with the time of the ladder's last one, so that several cores do not all
// choose the same ladder.
type costs struct {
	at     time.Time
	spent  map[string]float64
	recent map[string]float64 // what its last match took
}

// order returns the ladders by their costs, the lowest first; among equals in their
// order.
func (c *costs) order(ladders []ladder.Ladder) []ladder.Ladder {
	return slices.SortedStableFunc(slices.Values(ladders), func(a, b ladder.Ladder) int {
		return cmp.Compare(c.spent[a.Name], c.spent[b.Name])
	})
}

// fade reduces the costs with time.
func (c *costs) fade(now time.Time) {
	if passed := now.Sub(c.at); !c.at.IsZero() && passed > 0 {
		f := math.Exp2(-float64(passed) / float64(costHalf))
		for name := range c.spent {
			c.spent[name] *= f
		}
	}
	c.at = now
}

// charge charges a ladder for a match that begins, and returns how much. "" stands for no ladder.
func (c *costs) charge(name string) (charged float64) {
	if name == "" {
		return 0
	}
	charged, known := c.recent[name]
	if !known {
		charged = 1
	}
	c.spent[name] += charged
	return charged
}

// correct replaces what was charged with what the match took; 0 for a match that did not
// begin.
func (c *costs) correct(name string, charged float64, took time.Duration) {
	if name == "" {
		return
	}
	c.spent[name] = max(0, c.spent[name]-charged) + took.Seconds()
	if took > 0 {
		c.recent[name] = took.Seconds()
	}
}
