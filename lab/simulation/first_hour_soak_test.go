//go:build soak

package simulation

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/stats"
)

// youngPlace is a row of the standings of a young ladder, with the true strength of its bot.
type youngPlace struct {
	ladder.Standing
	strength        float64
	hasPlayedAnchor bool
}

// youngRule is a rule for the order of standings. A rating is provisional until the half width of its interval is
// below width, and the version has played the given number of opponents and, if needsAnchor is true, the anchor
// (the bot with the fixed rating). The anchor is never provisional.
type youngRule struct {
	order       string
	width       float64
	opponents   int
	needsAnchor bool
}

// The orders of standings. The first one is the rule before this simulation, by which also the anchor was
// provisional during 40 matches. The second one is the rule of package ladder.
const (
	orderBefore = "provisional below (anchor: 40 matches)"
	orderNow    = "by rating"
	orderLow    = "by lower end"
	orderBelow  = "provisional below"
	orderMixed  = "provisional by lower end"
)

func (r youngRule) isProvisional(p youngPlace) bool {
	switch {
	case r.order == orderNow:
		return p.IsProvisional()
	case p.IsAnchor():
		return r.order == orderBefore && p.Matches < 40
	}
	return p.PlusMinus == nil || *p.PlusMinus >= r.width || p.Opponents < r.opponents || r.needsAnchor && !p.hasPlayedAnchor
}

// compare returns a negative number if the rule places a before b.
func (r youngRule) compare(a, b youngPlace) int {
	if r.order == orderNow {
		return ladder.ComparePlaces(a.Standing, b.Standing)
	}
	key := func(p youngPlace) (tier int, key float64) {
		provisional := r.isProvisional(p)
		switch {
		case p.Matches == 0:
			return 0, p.Elo
		case provisional && (r.order == orderBefore || r.order == orderBelow):
			return 1, p.Rating()
		case r.order == orderLow || r.order == orderMixed && provisional:
			return 2, p.LowEnd()
		}
		return 2, p.Rating()
	}
	tierA, keyA := key(a)
	tierB, keyB := key(b)
	return cmp.Or(cmp.Compare(tierB, tierA), cmp.Compare(keyB, keyA))
}

// youngFigures judges a rule by the standings of one hour, as sums over the looks at them: Kendall's tau between
// the order of the rule and the true one; how often the first bot that is not the anchor is the strongest one; the
// bots that have played, those with settled ratings, and those of them whose interval contains the true strength.
type youngFigures struct{ looks, tau, leader, bots, settled, covered float64 }

func (f *youngFigures) add(r youngRule, places []youngPlace) {
	pairs, order, first, strongest := 0, 0, 1, 1
	for i, a := range places {
		for _, b := range places[:i] {
			if a.strength != b.strength {
				pairs++
				order += r.compare(a, b) * cmp.Compare(b.strength, a.strength)
			}
		}
		if i == 0 {
			continue // the anchor
		}
		if r.compare(a, places[first]) < 0 {
			first = i
		}
		if a.strength > places[strongest].strength {
			strongest = i
		}
		if a.Matches > 0 {
			f.bots++
			if !r.isProvisional(a) {
				f.settled++
				if math.Abs(a.Rating()-a.strength) <= *a.PlusMinus {
					f.covered++
				}
			}
		}
	}
	f.looks++
	f.tau += float64(order) / float64(pairs)
	if first == strongest {
		f.leader++
	}
}

// playHour plays a new ladder for a simulated hour, and calls judge with its standings every ten minutes. The
// ladder has house bots of the given strengths, the anchor first, and plays the given number of matches. Every ten
// minutes the bot of a visitor joins, if visitors is true, with a strength between those of the house bots.
func playHour(r *rand.Rand, l ladder.Ladder, house []float64, matches int, visitors bool, judge func([]youngPlace)) error {
	w, err := newWorld(r, l, nil)
	if err != nil {
		return err
	}
	for _, strength := range house {
		c := w.addEntry(strength, nil)
		c.House = true
		w.changePool([]matchmaking.Candidate{c}, nil)
	}
	met := map[[2]int]bool{}
	for look := 1; look <= 6; look++ {
		if visitors {
			w.addBot(house[0] + (slices.Max(house)-house[0])*r.Float64())
		}
		for 6*w.matches < matches*look {
			bots := w.step(ladderMethod)
			for _, a := range bots {
				for _, b := range bots {
					met[[2]int{a, b}] = a != b
				}
			}
		}
		fitted, err := w.fit().Intervals()
		if err != nil {
			return err
		}
		places := make([]youngPlace, len(fitted))
		for i, e := range fitted {
			p := youngPlace{strength: w.strengths[i], hasPlayedAnchor: met[[2]int{0, i}]}
			p.Elo, p.Matches = w.entries[i].Elo, w.entries[i].Matches
			if i == 0 {
				p.Bot = ladder.Anchor
			}
			if half := e.PlusMinus(); p.Matches > 0 {
				p.Fit = &e.Value
				if !math.IsInf(half, 0) {
					p.PlusMinus = &half
				}
			}
			for j := range fitted {
				if met[[2]int{i, j}] {
					p.Opponents++
				}
			}
			places[i] = p
		}
		judge(places)
	}
	return nil
}

// TestFirstHour compares rules for the order of standings in the first hour of the default ladders, without and with
// bots of visitors. The strengths and the numbers of matches are those of house-bots-ladders.csv.
func TestFirstHour(t *testing.T) {
	const runs = 200
	rules := []youngRule{{orderBefore, 100, 0, false}, {orderNow, 100, 3, false}, {orderLow, 100, 3, false}}
	for _, order := range []string{orderBelow, orderMixed} {
		for _, width := range []float64{100, 200, math.Inf(1)} {
			for opponents := 1; opponents <= 4; opponents++ {
				rules = append(rules, youngRule{order, width, opponents, false}, youngRule{order, width, opponents, true})
			}
		}
	}
	table := csv.NewReader(bytes.NewReader(kit.Get[[]byte](t)(os.ReadFile("../results/house-bots-ladders.csv"))))
	table.Comment = '#'
	rows := kit.Get[[][]string](t)(table.ReadAll())
	ladders := config.Default().Ladders
	var b strings.Builder
	b.WriteString("# command: go test -tags soak ./lab/simulation -run FirstHour -update\n" +
		"# sample: 200 simulated hours of each default ladder for each value of visitors, with the seeds from 0; 95 % intervals\n")
	b.WriteString("visitors,order,provisional from ±,opponents,with the anchor,tau,low,high,more than before,low,high,first is strongest,settled,interval holds\n")
	for _, visitors := range []bool{false, true} {
		figures := make([][]youngFigures, runs) // by run and rule
		var group errgroup.Group
		group.SetLimit(2)
		for run := range runs {
			figures[run] = make([]youngFigures, len(rules))
			group.Go(func() error {
				for i, l := range ladders {
					var house []float64
					slots := 0
					for _, row := range rows {
						if row[0] == l.Name {
							strength, _ := strconv.ParseFloat(row[2], 64)
							matches, _ := strconv.Atoi(row[4])
							house, slots = append(house, strength), slots+matches
						}
					}
					slices.Sort(house)
					err := playHour(rand.New(rand.NewPCG(uint64(run), uint64(i))), l, house, slots/l.Bots, visitors, func(places []youngPlace) {
						for n, r := range rules {
							figures[run][n].add(r, places)
						}
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		kit.Must(t, group.Wait())
		for n, r := range rules {
			var taus, gains []float64
			var sum youngFigures
			for _, f := range figures {
				taus, gains = append(taus, f[n].tau/f[n].looks), append(gains, (f[n].tau-f[0].tau)/f[n].looks)
				sum.looks, sum.leader, sum.bots = sum.looks+f[n].looks, sum.leader+f[n].leader, sum.bots+f[n].bots
				sum.settled, sum.covered = sum.settled+f[n].settled, sum.covered+f[n].covered
			}
			tau, gain := stats.Mean(taus), stats.Mean(gains)
			fmt.Fprintf(&b, "%t,%s,%g,%d,%t,%.3f,%.3f,%.3f,%+.3f,%+.3f,%+.3f,%.3f,%.3f,%.3f\n", visitors, r.order, r.width, r.opponents, r.needsAnchor,
				tau.Value, tau.Low, tau.High, gain.Value, gain.Low, gain.High, sum.leader/sum.looks, sum.settled/sum.bots, sum.covered/sum.settled)
			if r.order == orderNow && gain.Low <= 0 {
				t.Errorf("tau is %+.3f (%.3f to %.3f) more than before", gain.Value, gain.Low, gain.High)
			}
		}
	}
	kit.Golden(t, "../../results/ladder-first-hour.csv", b.String())
}
