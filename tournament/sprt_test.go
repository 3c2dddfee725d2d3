package tournament

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/stats"
)

// duel returns a tournament of two bots with a sequential test.
func duel(t testing.TB, test string, deals int) *State {
	t.Helper()
	return begun(t, "teeko", "", Config{Bots: named(2), Format: Single, Deals: deals, SPRT: sprt(t, test)})
}

func sprt(t testing.TB, text string) *stats.SPRT {
	t.Helper()
	test := kit.Get[stats.SPRT](t)(stats.ParseSPRT(text))
	return &test
}

// biased makes bot 0 win about two of three deals.
func biased(_ *Match, deal int, bots []int) ([]int, []float64) {
	winner := 0
	if deal*7919%3 == 0 {
		winner = 1
	}
	if bots[0] == winner {
		return []int{1, 2}, []float64{1, 0}
	}
	return []int{2, 1}, []float64{0, 1}
}

// The test ends at the same deal with the same figures in whatever order the games of the two rotations come in.
func TestSPRTWhateverTheOrder(t *testing.T) {
	const deals = 200
	variant := duel(t, "elo0=0,elo1=50", deals).Variant // the same of all, for they are compared
	finish := func(first func() bool) (*Match, Results) {
		tour := duel(t, "elo0=0,elo1=50", deals)
		tour.Variant = variant
		m := tour.Next()[0]
		next := [2]int{}
		for !tour.IsFinished(m) {
			rotation := 0
			if next[0] == deals || next[1] < deals && !first() {
				rotation = 1
			}
			tour.Add(m, fakeGame(tour, m, next[rotation], rotation, biased))
			next[rotation]++
		}
		results := tour.Results()
		return m, results
	}
	turn := 0
	m, want := finish(func() bool { turn++; return turn%2 == 1 })
	if m.Progress.Verdict != stats.AcceptH1 || m.test.countedDeals < 5 || m.test.countedDeals >= deals {
		t.Fatalf("after %d deals: %v", m.test.countedDeals, m.Progress)
	}
	if games := m.Tally.Games; games != 2*m.test.countedDeals || want.Deals != m.test.countedDeals {
		t.Errorf("%d games and %d deals count, the test has %d deals", games, want.Deals, m.test.countedDeals)
	}
	rapid.Check(t, func(t *rapid.T) {
		other, got := finish(func() bool { return rapid.Bool().Draw(t, "first") })
		if other.test.countedDeals != m.test.countedDeals || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(other.Tally, m.Tally) {
			t.Errorf("%d deals, %+v; in turn %d deals, %+v", other.test.countedDeals, got, m.test.countedDeals, want)
		}
	})
}

// A test without a verdict plays all deals.
func TestSPRTWithoutVerdict(t *testing.T) {
	tour := played(duel(t, "elo0=0,elo1=50", 3), biased)
	m := tour.matches[0]
	if m.Tally.Games != 6 || m.Progress == nil || m.Progress.Verdict != stats.Continue {
		t.Errorf("%d games, %+v", m.Tally.Games, m.Progress)
	}
}

// It compares two bots in one match, and says so.
func TestSPRTIsOfOneMatch(t *testing.T) {
	three, swiss, knockout := duel(t, "elo0=0,elo1=50", 3).Config, duel(t, "elo0=0,elo1=50", 3).Config, duel(t, "elo0=0,elo1=50", 3).Config
	three.Bots, three.Format, swiss.Format, knockout.Format = named(3), RoundRobin, Swiss, Knockout
	for want, c := range map[string]Config{
		"sprt: it compares two bots at a game of two sides, not 3 bots at one of 2: name two, or with two sides choose --format gauntlet, which has a test for each opponent of the first bot": three,
		"sprt: it ends one match, and the rounds of a swiss tournament are one each: leave the format out":                                                                                     swiss,
		"sprt: it ends one match, and the rounds of a knockout tournament are one each: leave the format out":                                                                                  knockout,
	} {
		if _, err := New(c); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Each match of a gauntlet has its own test: it ends at the same deal and with the same figures as a match of these two
// bots alone with the same outcomes. Bot 0 wins 3 of 4 deals against bot 1, 1 of 4 against bot 2, and every
// other one against bot 3, which gives no verdict.
func TestSPRTInGauntlet(t *testing.T) {
	const deals = 60
	wins := map[int][]bool{}
	for deal := range deals {
		for bot, won := range []bool{1: deal%4 > 0, 2: deal%4 == 0, 3: deal%2 == 0} {
			wins[bot] = append(wins[bot], won)
		}
	}
	against := func(opponent int) func(*Match, int, []int) ([]int, []float64) {
		return func(m *Match, deal int, bots []int) ([]int, []float64) {
			if (bots[0] == 0) == wins[cmp.Or(opponent, m.Bots[1])][deal] {
				return []int{1, 2}, []float64{1, 0}
			}
			return []int{2, 1}, []float64{0, 1}
		}
	}
	test := sprt(t, "elo0=-50,elo1=50")
	gauntlet := played(begun(t, "teeko", "", Config{Bots: named(4), Format: Gauntlet, Deals: deals, SPRT: test}), against(0))
	want := []stats.Verdict{stats.AcceptH1, stats.AcceptH0, stats.Continue}
	for i, m := range gauntlet.matches {
		alone := played(duel(t, test.String(), deals), against(i+1)).matches[0]
		if *m.Progress != *alone.Progress || m.test.countedDeals != alone.test.countedDeals || m.Tally.Games != alone.Tally.Games {
			t.Errorf("opponent %d: %+v after %d deals, alone %+v after %d", i+1, m.Progress, m.test.countedDeals, alone.Progress, alone.test.countedDeals)
		}
		if m.Progress.Verdict != want[i] || want[i] != stats.Continue && m.test.countedDeals == deals {
			t.Errorf("opponent %d: %+v after %d deals, want %s", i+1, m.Progress, m.test.countedDeals, want[i])
		}
	}
	if all := gauntlet.Verdict(); all != stats.AcceptH0 {
		t.Errorf("the verdict of all is %s", all)
	}
	gauntlet.matches = slices.Delete(gauntlet.matches, 1, 2)
	if all := gauntlet.Verdict(); all != stats.Continue {
		t.Errorf("without the lost test the verdict of all is %s", all)
	}
}
