package tournament

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/combin"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/stats"
)

// around returns a game with k sides, and its options.
func around(k int) (game, options string) {
	switch k {
	case 2:
		return "teeko", ""
	case 3, 4:
		return "brisca", fmt.Sprintf("players=%d", k)
	}
	return "podrida", fmt.Sprintf("players=%d", k)
}

// seated returns a tournament at tables of k bots, with one deal unless c has more.
func seated(t testing.TB, k int, c Config) *State {
	t.Helper()
	game, options := around(k)
	c.Deals = max(1, c.Deals)
	return begun(t, game, options, c)
}

// meetings returns the number of tables of each bot, and of each pair of bots.
func meetings(tour *State) (own []int, pair [][]int) {
	own, pair = make([]int, len(tour.Bots)), make([][]int, len(tour.Bots))
	for i := range pair {
		pair[i] = make([]int, len(tour.Bots))
	}
	for _, m := range tour.matches {
		for _, a := range m.Bots {
			own[a]++
			for _, b := range m.Bots {
				if a != b {
					pair[a][b]++
				}
			}
		}
	}
	return own, pair
}

// In a round-robin every bot plays as often as any other, sits at every seat as
// often, and meets every other equally often.
func TestRoundRobinIsFair(t *testing.T) {
	for _, c := range []struct{ k, n, matches int }{
		{2, 2, 1}, {2, 3, 3}, {2, 10, 45}, {3, 3, 1}, {3, 7, 35}, {4, 4, 1}, {4, 6, 15}, {5, 8, 56}, {12, 13, 13},
	} {
		tour := seated(t, c.k, Config{Bots: named(c.n), Format: RoundRobin})
		seats := make([][]int, c.n)
		for i := range seats {
			seats[i] = make([]int, c.k)
		}
		played(tour, func(m *Match, deal int, bots []int) ([]int, []float64) {
			for seat, b := range bots {
				seats[b][seat]++
			}
			return favourite(m, deal, bots)
		})
		own, pair := meetings(tour)
		if len(tour.matches) != c.matches {
			t.Errorf("%d bots at tables of %d: %d matches, want %d", c.n, c.k, len(tour.matches), c.matches)
		}
		if _, games := tour.Total(); games != c.matches*c.k {
			t.Errorf("%d bots at tables of %d: %d games foretold, want %d", c.n, c.k, games, c.matches*c.k)
		}
		for a := range c.n {
			if own[a] != own[0] || slices.Max(seats[a]) != slices.Min(seats[a]) {
				t.Errorf("%d bots at tables of %d: bot %d has %d tables and seats %v, bot 0 has %d", c.n, c.k, a, own[a], seats[a], own[0])
			}
			for b := range c.n {
				if a != b && pair[a][b] != pair[0][1] {
					t.Errorf("%d bots at tables of %d: bots %d and %d meet %d times, 0 and 1 %d times", c.n, c.k, a, b, pair[a][b], pair[0][1])
				}
			}
		}
	}
}

// With teams two bots make a table of four, and a single match seats any number.
func TestTablesOfTeamsAndOfFewerBots(t *testing.T) {
	tour := begun(t, "tute", "players=4 teams=yes", Config{Deals: 1, Bots: named(5), Format: RoundRobin})
	played(tour, func(_ *Match, _ int, bots []int) ([]int, []float64) {
		if bots[0] != bots[2] || bots[1] != bots[3] || bots[0] == bots[1] {
			t.Errorf("the seats are %v, want two teams", bots)
		}
		return []int{1, 2, 1, 2}, []float64{1, 0, 1, 0}
	})
	if len(tour.matches) != 10 {
		t.Errorf("%d matches, want 10", len(tour.matches))
	}
	for n := 1; n <= 4; n++ {
		tour := seated(t, 4, Config{Bots: named(n), Format: Single})
		played(tour, favourite)
		if len(tour.matches) != 1 || tour.matches[0].Tally.Games != n {
			t.Errorf("%d bots at one table: %d matches, want 1 of %d games", n, len(tour.matches), n)
		}
	}
}

// In a gauntlet the first bot meets all the others equally often.
func TestGauntlet(t *testing.T) {
	for _, c := range []struct{ k, n, matches int }{{2, 2, 1}, {2, 9, 8}, {3, 6, 10}, {4, 6, 10}, {12, 14, 78}, {2, 500, 499}} {
		tour := seated(t, c.k, Config{Bots: named(c.n), Format: Gauntlet})
		played(tour, favourite)
		own, pair := meetings(tour)
		if len(tour.matches) != c.matches || own[0] != c.matches {
			t.Errorf("%d bots at tables of %d: %d matches, %d of the first, want %d", c.n, c.k, len(tour.matches), own[0], c.matches)
		}
		for b := 2; b < c.n; b++ {
			if pair[0][b] != pair[0][1] {
				t.Errorf("%d bots at tables of %d: bot 0 meets bot %d %d times and bot 1 %d times", c.n, c.k, b, pair[0][b], pair[0][1])
			}
		}
	}
}

// fewest returns the smallest possible number of repeated meetings, by trying all tables.
func fewest(bots []int, k int, met [][]int) int {
	if len(bots) == 0 {
		return 0
	}
	best := -1
	for _, others := range combin.Combinations(len(bots)-1, k-1) {
		table := []int{bots[0]}
		for _, i := range others {
			table = append(table, bots[i+1])
		}
		cost := 0
		for i, a := range table {
			for _, b := range table[i+1:] {
				cost += met[a][b]
			}
		}
		rest := slices.DeleteFunc(slices.Clone(bots), func(b int) bool { return slices.Contains(table, b) })
		if n := cost + fewest(rest, k, met); best < 0 || n < best {
			best = n
		}
	}
	return best
}

// In every round of a Swiss tournament everybody plays or has a bye, byes go round before anybody has a second, and
// nobody meets again while that can be avoided, whatever the results.
func TestSwissRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 4).Draw(t, "table")
		n := rapid.IntRange(k, 9).Draw(t, "bots")
		rounds := rapid.IntRange(1, 9).Draw(t, "rounds")
		tour := &State{Config: Config{Bots: named(n), Format: Swiss, Rounds: rounds, Deals: 1}}
		met, byes := make([][]int, n), make([]int, n)
		for i := range met {
			met[i] = make([]int, n)
		}
		for round := range rounds {
			var seen, playing []int
			cost := 0
			// What round gives depends on the variant by the table's size alone.
			for _, table := range tour.swiss(k) {
				seen = append(seen, table...)
				if len(table) == 1 {
					byes[table[0]]++
					addResult(tour, round, table, nil)
					continue
				}
				if len(table) != k {
					t.Fatalf("round %d: a table of %v", round, table)
				}
				playing = append(playing, table...)
				var points []float64
				for i, a := range table {
					points = append(points, float64(rapid.IntRange(0, 2).Draw(t, "points")))
					for _, b := range table[i+1:] {
						cost += met[a][b]
					}
				}
				addResult(tour, round, table, points)
			}
			slices.Sort(seen)
			if !slices.Equal(seen, upTo(n)) {
				t.Fatalf("round %d seats %v", round, seen)
			}
			if want := n - n%k; len(playing) != want {
				t.Fatalf("round %d: %d bots play, want %d", round, len(playing), want)
			}
			if slices.Max(byes)-slices.Min(byes) > 1 {
				t.Fatalf("after round %d the byes are %v", round, byes)
			}
			slices.Sort(playing)
			if want := fewest(playing, k, met); cost != want {
				t.Fatalf("round %d: %d meetings of bots that had met, %d were possible", round, cost, want)
			}
			for _, m := range tour.matches {
				if m.Round != round {
					continue
				}
				for _, a := range m.Bots {
					for _, b := range m.Bots {
						met[a][b]++
					}
				}
			}
		}
	})
}

// addResult adds a match of one deal, or a bye if there are no points.
func addResult(tour *State, round int, table []int, points []float64) {
	m := &Match{Number: len(tour.matches), Round: round, Bots: table}
	tour.matches = append(tour.matches, m)
	if points == nil {
		return
	}
	m.results = append(m.results, resultOf(table, points))
	m.fingerprints = [][]stats.Fingerprint{make([]stats.Fingerprint, len(table))}
	m.wholeDeals = 1
}

// The tables go by the standings: the winners of the first round meet.
func TestSwissTablesGoByStandings(t *testing.T) {
	tour := seated(t, 2, Config{Bots: named(9), Format: Swiss})
	var rounds []string
	played(tour, favourite)
	for round := range 5 {
		var text []string
		for _, m := range tour.matches {
			if m.Round == round {
				text = append(text, strings.Trim(fmt.Sprint(m.Bots), "[]"))
			}
		}
		rounds = append(rounds, strings.Join(text, ", "))
	}
	want := []string{
		"0 1, 2 3, 4 5, 6 7, 8",
		"0 2, 4 6, 8 1, 3 5, 7",
		"0 4, 1 2, 3 6, 7 8, 5",
		"0 3, 1 4, 7 2, 5 8, 6",
		"0 5, 1 6, 2 8, 3 7, 4", // 1 3, 2 6 would leave 7 8, which have met
	}
	if !slices.Equal(rounds, want) {
		t.Errorf("the rounds are\n%s", strings.Join(rounds, "\n"))
	}
}

// Bots with equal match points are equal, though 0.7 + 0.1 is less than 0.3 + 0.5 in binary.
func TestSwissTies(t *testing.T) {
	won := map[[2]int]int{{0, 1}: 7, {2, 3}: 1, {3, 0}: 9, {1, 2}: 5} // deals of ten
	tour := seated(t, 2, Config{Bots: named(4), Format: Swiss, Rounds: 2, Deals: 10})
	played(tour, func(m *Match, deal int, bots []int) ([]int, []float64) {
		n, ok := won[[2]int(m.Bots)]
		if !ok {
			t.Fatalf("%v meet", m.Bots)
		}
		if (bots[0] == m.Bots[0]) == (deal < n) {
			return []int{1, 2}, []float64{1, 0}
		}
		return []int{2, 1}, []float64{0, 1}
	})
	var got []string
	for _, s := range tour.Results().Standings {
		got = append(got, fmt.Sprint(s.Bot, " ", s.MatchPoints))
	}
	if want := []string{"3 1.8", "0 0.8", "1 0.8", "2 0.6"}; !slices.Equal(got, want) {
		t.Errorf("the standings are %q, want %q", got, want)
	}
}

// Many bots and rounds are paired in a moment, without a second meeting.
func TestSwissWithManyBots(t *testing.T) {
	for _, c := range []struct{ k, n, rounds int }{{2, 300, 12}, {3, 90, 7}, {4, 200, 8}} {
		tour := seated(t, c.k, Config{Bots: named(c.n), Format: Swiss, Rounds: c.rounds})
		played(tour, favourite)
		_, pair := meetings(tour)
		for a := range pair {
			if most := slices.Max(pair[a]); most > 1 {
				t.Errorf("%d bots, %d rounds, tables of %d: bot %d met somebody %d times", c.n, c.rounds, c.k, a, most)
			}
		}
	}
}

// Byes of a knockout go to the first seeds and only in the first round; after it
// all tables are full. The best meet each other last.
func TestKnockoutBrackets(t *testing.T) {
	for k := 2; k <= 4; k++ {
		for n := 2; n <= 33; n++ {
			tour := seated(t, k, Config{Bots: named(n), Format: Knockout})
			played(tour, favourite)
			full := 1
			for full < n {
				full *= k
			}
			alive := n
			for round := 0; alive > 1; round++ {
				full /= k
				var seen, alone []int
				for _, m := range tour.matches {
					if m.Round != round {
						continue
					}
					seen = append(seen, m.Bots...)
					if len(m.Bots) == 1 {
						alone = append(alone, m.Bots...)
					} else if len(m.Bots) > k || round > 0 && len(m.Bots) < k {
						t.Errorf("%d bots, tables of %d, round %d: a table of %v", n, k, round, m.Bots)
					}
				}
				slices.Sort(seen)
				if want := upTo(alive); !slices.Equal(seen, want) {
					t.Errorf("%d bots, tables of %d, round %d: %v play, want the first %d", n, k, round, seen, alive)
				}
				slices.Sort(alone)
				if want := max(0, 2*full-n); round > 0 && len(alone) > 0 || round == 0 && !slices.Equal(alone, upTo(want)) {
					t.Errorf("%d bots, tables of %d, round %d: byes for %v, want the first %d", n, k, round, alone, want)
				}
				alive = full
			}
			last := tour.matches[len(tour.matches)-1]
			final := slices.Sorted(slices.Values(last.Bots))
			if want := upTo(min(k, n)); alive != 1 || !slices.Equal(final, want) {
				t.Errorf("%d bots, tables of %d: the final is %v, want %v", n, k, final, want)
			}
			if last.Winner() != 0 {
				t.Errorf("%d bots, tables of %d: bot %d won", n, k, last.Winner())
			}
		}
	}
}

// Points of the games are equal whatever the order in which they are added.
func TestKnockoutTiesOfThirds(t *testing.T) {
	points := map[int][]float64{0: {40. / 3, 65. / 3, 20}, 1: {40. / 3, 20, 65. / 3}} // by bot, of deals
	tour := seated(t, 2, Config{Bots: named(2), Format: Knockout, Deals: 3})
	played(tour, func(_ *Match, deal int, bots []int) ([]int, []float64) {
		return []int{1, 1}, []float64{points[bots[0]][deal], points[bots[1]][deal]}
	})
	if m := tour.matches[0]; m.Winner() != 0 || m.TieBreak() != byOrder {
		t.Errorf("bot %d goes on, %q", m.Winner(), m.TieBreak())
	}
}

// A knockout match that is level goes to the bot with more points in the game, then to the one named first.
func TestKnockoutTies(t *testing.T) {
	for _, c := range []struct {
		points   []float64
		want     int
		tieBreak string
	}{{[]float64{3, 3}, 0, byOrder}, {[]float64{3, 4}, 1, byGamePoints}, {[]float64{4, 3}, 0, byGamePoints}} {
		tour := seated(t, 2, Config{Bots: named(2), Format: Knockout})
		played(tour, func(_ *Match, _ int, bots []int) ([]int, []float64) {
			return []int{1, 1}, []float64{c.points[bots[0]], c.points[bots[1]]}
		})
		m := tour.matches[0]
		if m.Winner() != c.want || m.TieBreak() != c.tieBreak {
			t.Errorf("points %v: bot %d goes on, %q, want %d, %q", c.points, m.Winner(), m.TieBreak(), c.want, c.tieBreak)
		}
	}
}

// What cannot be played is refused with what to try.
func TestFormatErrors(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		format Format
		rounds int
		want   string
	}{
		{2, 3, Single, 0, "3 bots are too many for one match at 2 seats: choose a format"},
		{4, 3, RoundRobin, 0, "round-robin needs 4 bots or more to fill a table, not 3"},
		{4, 3, Gauntlet, 0, "gauntlet needs 4 bots or more"},
		{4, 3, Swiss, 0, "swiss needs 4 bots or more"},
		{2, 1, Knockout, 0, "knockout needs two bots"},
		{2, 3, Swiss, -1, "rounds cannot be -1: try 1 or more"},
		{2, 3, "ladder", 0, `format "ladder" does not exist: try round-robin, gauntlet, swiss, knockout`},
		{2, 500, RoundRobin, 0, "more than 100000 matches: try --format swiss"},
		{12, 1000, RoundRobin, 0, "more than 100000 matches"},
		{12, 1000, Gauntlet, 0, "more than 100000 matches"},
		{2, 0, Single, 0, "there are no bots"},
	} {
		game, options := around(c.k)
		v := refereetest.Variant(t, game, options)
		_, err := New(Config{Game: game, Options: v.Settings.Map(), Clock: patient, Bots: named(c.n), Format: c.format, Rounds: c.rounds, Deals: 1})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d bots, %s: %v, want %q", c.n, c.format, err, c.want)
		}
	}
}
