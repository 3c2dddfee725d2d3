package runner

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// turns shares the cores between ladders, people and submissions:
//
//   - interrupted matches of a ladder are played again first;
//   - matches that people requested come next as long as they have had less than their
//     share of the time, and where there is nothing else to play; of several people
//     the one whose last turn is longest ago;
//   - of several cores, requested matches leave one free;
//   - submissions have up to half of the cores as long as there are any, each owner
//     one; on a single core, and on the middle one of an odd number, they and matches
//     take turns;
//   - owners of submissions take turns, as store.Pending has them.
type turns struct {
	submitted bool // the last job begun was a submission
	served    map[int64]int
	count     int
}

func newTurns() turns { return turns{served: map[int64]int{}} }

// pick returns one of the waiting matches that may begin, nil for none.
func (t *turns) pick(waiting []*ladder.Match, may func(*ladder.Match) bool) *ladder.Match {
	var best *ladder.Match
	for _, m := range waiting {
		if !may(m) {
			continue
		}
		if m.AskedBy == 0 {
			return m // the oldest comes first
		}
		if best == nil || t.served[m.AskedBy] < t.served[best.AskedBy] {
			best = m
		}
	}
	return best
}

// began records whose turn it was.
func (t *turns) began(j *job) {
	t.submitted = j.match == nil
	if j.asked() {
		t.count++
		t.served[j.match.AskedBy] = t.count
	}
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

func newCosts() costs {
	return costs{spent: map[string]float64{}, recent: map[string]float64{}}
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

// began charges a ladder for a match that begins, and returns how much. ""
// stands for no ladder.
func (c *costs) began(name string) (charged float64) {
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

// ended replaces what was charged with what the match took; 0 for a match that did not
// begin.
func (c *costs) ended(name string, charged float64, took time.Duration) {
	if name == "" {
		return
	}
	c.spent[name] = max(0, c.spent[name]-charged) + took.Seconds()
	if took > 0 {
		c.recent[name] = took.Seconds()
	}
}
