package runner

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// charges counts the time of cores that matches take: that of matches which people asked for against their share, and
// that of each ladder.
type charges struct {
	placement *placement
	share     float64       // of the matches that people asked for; if it is 1, there is no bound
	balance   time.Duration // how much more the asked matches may play before they have had their share; may be negative
	costs     costs
}

// maxBalance is the largest balance that builds up while nobody asks for a match.
const maxBalance = 5 * time.Second

// charge is what an assignment counts for.
type charge struct {
	spare   bool    // a match that somebody asked for while there was nothing else to do: it does not reduce the balance
	seconds float64 // that its ladder is charged with before its end
}

func newCharges(p *placement) *charges {
	return &charges{
		placement: p, share: ladder.UnratedShare / 100.0,
		costs: costs{coreSeconds: map[string]float64{}, lastSeconds: map[string]float64{}},
	}
}

// add charges for an assignment.
func (c *charges) add(a *assignment, spare bool) {
	c.costs.fade(a.start)
	a.charge = charge{spare, c.costs.add(ladderOf(a.job))}
}

// settle replaces the charge for an assignment with the time that it took, which is 0 if it did not begin.
func (c *charges) settle(a *assignment, took time.Duration, now time.Time) {
	switch held := now.Sub(a.start); {
	case requesterOf(a.job) == 0 && c.share < 1:
		c.balance = min(maxBalance+c.openSeconds(now), c.balance+time.Duration(float64(held)*c.share/(1-c.share)))
	case requesterOf(a.job) != 0 && !a.spare:
		c.balance -= held
	}
	c.costs.fade(now)
	c.costs.correct(ladderOf(a.job), a.seconds, took)
}

// isShareUsed reports whether the matches that people asked for have had their share of the time.
func (c *charges) isShareUsed(now time.Time) bool {
	return c.share < 1 && c.balance < c.openSeconds(now)
}

// openSeconds returns how long the asked matches that play now have played in total. The balance does not include it yet.
func (c *charges) openSeconds(now time.Time) (sum time.Duration) {
	for _, a := range c.placement.local().assignments {
		if requesterOf(a.job) != 0 && !a.spare {
			sum += now.Sub(a.start)
		}
	}
	return sum
}

// costHalf is the half-life of a ladder's costs.
const costHalf = 10 * time.Minute

// costs has the recent costs of the ladders, in core seconds. From its start a match counts with the time of the
// ladder's last one, so that several cores do not all choose the same ladder.
type costs struct {
	fadedAt     time.Time
	coreSeconds map[string]float64
	lastSeconds map[string]float64 // what its last match took
}

// order returns the ladders by their costs, the lowest first; among equals in their order.
func (c *costs) order(ladders []ladder.Ladder) []ladder.Ladder {
	return slices.SortedStableFunc(slices.Values(ladders), func(a, b ladder.Ladder) int {
		return cmp.Compare(c.coreSeconds[a.Name], c.coreSeconds[b.Name])
	})
}

// fade reduces the costs with time.
func (c *costs) fade(now time.Time) {
	if passed := now.Sub(c.fadedAt); !c.fadedAt.IsZero() && passed > 0 {
		f := math.Exp2(-float64(passed) / float64(costHalf))
		for name := range c.coreSeconds {
			c.coreSeconds[name] *= f
		}
	}
	c.fadedAt = now
}

// add charges a ladder for a match that begins, and returns the seconds. The name "" stands for no ladder.
func (c *costs) add(name string) (seconds float64) {
	if name == "" {
		return 0
	}
	seconds, known := c.lastSeconds[name]
	if !known {
		seconds = 1
	}
	c.coreSeconds[name] += seconds
	return seconds
}

// correct replaces the seconds that add has charged with the time of the match, which is 0 if it did not begin.
func (c *costs) correct(name string, seconds float64, took time.Duration) {
	if name == "" {
		return
	}
	c.coreSeconds[name] = max(0, c.coreSeconds[name]-seconds) + took.Seconds()
	if took > 0 {
		c.lastSeconds[name] = took.Seconds()
	}
}
