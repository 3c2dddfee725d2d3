package runner

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// charges records how much core time the jobs have used; a job is a match or other work for one core. The runner
// uses these records for two things. It limits the matches that people request to a share of the time of all jobs.
// And when it chooses a ladder for the next match, it prefers ladders that have used little time.
type charges struct {
	placement *placement
	share     float64       // the part of the time of all jobs that requested matches get; 1 means no limit
	balance   time.Duration // how much longer requested matches may play; negative if they had more than their part
	costs     costs
}

// maxBalance limits the balance of charges, which is the time that requested matches may use at once. The balance
// grows while nobody requests a match.
const maxBalance = 5 * time.Second

// charge says how the core time of one assignment (a job on a core) is counted.
type charge struct {
	spare   bool    // a requested match that plays because there was nothing else to do; it does not reduce the balance
	seconds float64 // added to the costs of its ladder until its real duration is known
}

func newCharges(p *placement) *charges {
	return &charges{
		placement: p, share: ladder.UnratedShare / 100.0,
		costs: costs{coreSeconds: map[string]float64{}, lastSeconds: map[string]float64{}},
	}
}

// add counts the job of a, which starts now on a core, with an estimate of its duration. spare is true for a
// requested match that plays only because the core had nothing else to do.
func (c *charges) add(a *assignment, spare bool) {
	c.costs.fade(a.start)
	a.charge = charge{spare, c.costs.add(ladderOf(a.job))}
}

// settle counts the real duration of the job of a, which has ended at the time now, in place of the estimate that
// add counted. took is the duration of the job, or 0 if it did not start.
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

// isShareUsed reports whether requested matches have used up their share of the core time.
func (c *charges) isShareUsed(now time.Time) bool {
	return c.share < 1 && c.balance < c.openTime(now)
}

// openTime returns how long the running requested matches have played so far, in total. It omits spare matches, which
// play only because a core had nothing else to do. The balance does not include this time yet.
func (c *charges) openTime(now time.Time) (sum time.Duration) {
	for _, a := range c.placement.local().assignments {
		if requesterOf(a.job) != 0 && !a.spare {
			sum += now.Sub(a.start)
		}
	}
	return sum
}

// costHalf is the half-life of costs: core time that was used this long ago counts half as much as core time that is
// used now.
const costHalf = 10 * time.Minute

// costs records how much core time each ladder has used recently. A match that starts is counted at once, with the
// duration of the ladder's last match; otherwise several cores would all choose the same ladder.
type costs struct {
	fadedAt     time.Time
	coreSeconds map[string]float64 // by ladder; halved every costHalf
	lastSeconds map[string]float64 // duration of a ladder's last match
}

// order returns the ladders sorted by their costs, the lowest first. Ladders with the same costs stay in their
// order.
func (c *costs) order(ladders []ladder.Ladder) []ladder.Ladder {
	return slices.SortedStableFunc(slices.Values(ladders), func(a, b ladder.Ladder) int {
		return cmp.Compare(c.coreSeconds[a.Name], c.coreSeconds[b.Name])
	})
}

// fade reduces all costs according to the time that has passed since the last call of fade.
func (c *costs) fade(now time.Time) {
	if passed := now.Sub(c.fadedAt); !c.fadedAt.IsZero() && passed > 0 {
		f := math.Exp2(-float64(passed) / float64(costHalf))
		for name := range c.coreSeconds {
			c.coreSeconds[name] *= f
		}
	}
	c.fadedAt = now
}

// add adds the expected duration of a match that starts to the costs of the ladder called name, and returns
// that duration. If name is empty, it does nothing.
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

// correct corrects the cost of the ladder called name after one of its matches. It replaces the expected duration of
// the match by the real one, took, which is 0 if the match did not start. seconds is the expected duration, as
// returned by add. If name is empty, it does nothing.
func (c *costs) correct(name string, seconds float64, took time.Duration) {
	if name == "" {
		return
	}
	c.coreSeconds[name] = max(0, c.coreSeconds[name]-seconds) + took.Seconds()
	if took > 0 {
		c.lastSeconds[name] = took.Seconds()
	}
}
