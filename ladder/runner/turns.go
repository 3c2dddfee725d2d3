package runner

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// turns keep those who want a core in turn, so that none starves the others:
//
//   - matches of a ladder that were broken off are played again first;
//   - every other match at most is one that somebody asked for, while the ladders
//     have any to play; of several people the one whose last turn is longest ago;
//   - on a single core, submissions and matches take turns; on more, submissions
//     have one core as long as there are any.
type turns struct {
	asked     bool // the last match begun was asked for by somebody
	submitted bool // the last job begun was a submission
	served    map[int64]int
	count     int
}

func newTurns() turns { return turns{served: map[int64]int{}} }

// pick chooses among the matches that wait, of those that may be begun. With
// spare, those asked for need not wait for a match of a ladder to come between.
func (t *turns) pick(waiting []ladder.Match, may func(*ladder.Match) bool, spare bool) *ladder.Match {
	var best *ladder.Match
	for i := range waiting {
		m := &waiting[i]
		if !may(m) {
			continue
		}
		if m.AskedBy == 0 {
			return m // the oldest comes first
		}
		if t.asked && !spare {
			continue
		}
		if best == nil || t.served[m.AskedBy] < t.served[best.AskedBy] {
			best = m
		}
	}
	return best
}

// began takes note of whose turn it was.
func (t *turns) began(j *job) {
	t.submitted = j.match == nil
	if j.match == nil {
		return
	}
	t.asked = j.match.AskedBy != 0
	if t.asked {
		t.count++
		t.served[j.match.AskedBy] = t.count
	}
}

// costHalf is after how long what a ladder has cost counts half.
const costHalf = 10 * time.Minute

// costs are what ladders have cost lately, in seconds of a core. A match counts
// with what the ladder's last one took from its beginning on, so that several
// cores do not all take the same ladder.
type costs struct {
	at     time.Time
	spent  map[string]float64
	recent map[string]float64 // what its last match took
}

func newCosts() costs {
	return costs{spent: map[string]float64{}, recent: map[string]float64{}}
}

// order are the ladders by whose turn it is: that which has cost the least comes
// first, of equals the first.
func (c *costs) order(ladders []ladder.LadderConfig) []ladder.LadderConfig {
	return slices.SortedStableFunc(slices.Values(ladders), func(a, b ladder.LadderConfig) int {
		return cmp.Compare(c.spent[a.Name], c.spent[b.Name])
	})
}

// fade lets the past count less.
func (c *costs) fade(now time.Time) {
	if passed := now.Sub(c.at); !c.at.IsZero() && passed > 0 {
		f := math.Exp2(-float64(passed) / float64(costHalf))
		for name := range c.spent {
			c.spent[name] *= f
		}
	}
	c.at = now
}

// began charges a ladder for a match to come, and tells how much.
func (c *costs) began(name string) (charged float64) {
	charged, known := c.recent[name]
	if !known {
		charged = 1
	}
	c.spent[name] += charged
	return charged
}

// ended puts what a match took in place of what was charged; 0 for one that was
// not begun.
func (c *costs) ended(name string, charged float64, took time.Duration) {
	c.spent[name] = max(0, c.spent[name]-charged) + took.Seconds()
	if took > 0 {
		c.recent[name] = took.Seconds()
	}
}
