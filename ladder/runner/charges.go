package runner

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// charges counts the core time that matches take: of requested matches against their share of the time, and
// of the matches of each ladder.
type charges struct {
	placement *placement
	share     float64       // of the time, for requested matches; 1 means no limit
	balance   time.Duration // how much longer requested matches may play; negative if they had more than their share
	costs     costs
}

// maxBalance is the largest balance that builds up while nobody requests a match.
const maxBalance = 5 * time.Second

// charge is what an assignment counts for.
type charge struct {
	spare   bool    // a requested match that plays because there was nothing else to do; it does not reduce the balance
	seconds float64 // charged to its ladder until its real duration is known
}

func newCharges(p *placement) *charges {
	return &charges{
		placement: p, share: ladder.UnratedShare / 100.0,
		costs: costs{coreSeconds: map[string]float64{}, lastSeconds: map[string]float64{}},
	}
}

// add charges for an assignment that starts.
func (c *charges) add(a *assignment, spare bool) {
	c.costs.fade(a.start)
	a.charge = charge{spare, c.costs.add(ladderOf(a.job))}
}

// settle replaces the charge for an assignment with the time that it took, which is 0 if it did not start.
func (c *charges) settle(a *assignment, took time.Duration, now time.Time) {
	switch held := now.Sub(a.start); {
	case requesterOf(a.job) == 0 && c.share < 1:
		c.balance = min(maxBalance+c.openTime(now), c.balance+time.Duration(float64(held)*c.share/(1-c.share)))
	case requesterOf(a.job) != 0 && !a.spare:
		c.balance -= held
	}
	c.costs.fade(now)
	c.costs.correct(ladderOf(a.job), a.seconds, took)
}

// isShareUsed reports whether requested matches have had their share of the time.
func (c *charges) isShareUsed(now time.Time) bool {
	return c.share < 1 && c.balance < c.openTime(now)
}

// openTime returns how long the running requested matches have played in total. The balance does not include
// it yet.
func (c *charges) openTime(now time.Time) (sum time.Duration) {
	for _, a := range c.placement.local().assignments {
		if requesterOf(a.job) != 0 && !a.spare {
			sum += now.Sub(a.start)
		}
	}
	return sum
}

// costHalf is the half-life of the costs of ladders.
const costHalf = 10 * time.Minute

// costs has the recent costs of ladders. A match counts from its start with the duration of the ladder's last
// match, so that several cores do not all choose the same ladder.
type costs struct {
	fadedAt     time.Time
	coreSeconds map[string]float64 // by ladder, fading with time
	lastSeconds map[string]float64 // duration of a ladder's last match
}

// order returns the ladders sorted by cost, the lowest first. Ladders with the same cost stay in their order.
func (c *costs) order(ladders []ladder.Ladder) []ladder.Ladder {
	return slices.SortedStableFunc(slices.Values(ladders), func(a, b ladder.Ladder) int {
		return cmp.Compare(c.coreSeconds[a.Name], c.coreSeconds[b.Name])
	})
}

// fade reduces the costs by the time since the last call.
func (c *costs) fade(now time.Time) {
	if passed := now.Sub(c.fadedAt); !c.fadedAt.IsZero() && passed > 0 {
		f := math.Exp2(-float64(passed) / float64(costHalf))
		for name := range c.coreSeconds {
			c.coreSeconds[name] *= f
		}
	}
	c.fadedAt = now
}

// add charges a ladder for a match that starts, and returns the seconds. It charges nothing if name is empty.
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

// correct replaces the seconds that add has charged with the duration of the match, which is 0 if it did not start.
func (c *costs) correct(name string, seconds float64, took time.Duration) {
	if name == "" {
		return
	}
	c.coreSeconds[name] = max(0, c.coreSeconds[name]-seconds) + took.Seconds()
	if took > 0 {
		c.lastSeconds[name] = took.Seconds()
	}
}
