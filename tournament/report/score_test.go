package report

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/tournament"
)

// scores checks the form of the running score for common and uncommon widths of terminals.
func scores(t *testing.T, r *Run) {
	t.Helper()
	for _, columns := range []int{1, 20, 39, 79, 200} {
		lines := r.Score(columns)
		if len(lines) > 2 || len(lines) == 0 && columns >= 39 {
			t.Errorf("%d lines in %d columns: %q", len(lines), columns, lines)
		}
		for _, line := range lines {
			if text.Width(line) > columns || strings.Contains(line, "\n") {
				t.Errorf("%q in %d columns", line, columns)
			}
		}
	}
}

// The running score has the figures of the final tables, the most important where there is little room.
func TestScore(t *testing.T) {
	bare := refereetest.Variant(t, "tebes", "size=4 opening=0")
	for _, c := range []struct {
		name     string
		format   tournament.Format
		sprt     string
		bots     []string
		repeated bool
		want     []string // in 79 columns, after 2 seconds
		narrow   []string // in 39
	}{
		{"duel", tournament.Single, "", []string{"greedy", "random"}, false,
			[]string{"Elo +470.4 ± 489.5, LOS 97.0 %", "4/4 deals, 8/8 games, 2.0 deals/s, 0s left"},
			[]string{"Elo +470.4 ± 489.5, LOS 97.0 %", "4/4 deals, 2.0 deals/s, 0s left"}},
		{"sprt", tournament.Single, "elo0=0,elo1=10", []string{"greedy", "random"}, false,
			[]string{"Elo +470.4 ± 489.5, LOS 97.0 %, LLR 0.11 (-2.94, 2.94)", "4/4 deals, 8/8 games, 2.0 deals/s, at most 0s left"},
			[]string{"LOS 97.0 %, LLR 0.11 (-2.94, 2.94)", "4/4 deals, 2.0 deals/s, at most 0s left"}},
		{"one", tournament.Single, "", []string{"first"}, false,
			[]string{"", "4/4 deals, 4/4 games, 2.0 deals/s, 0s left"},
			[]string{"", "4/4 deals, 2.0 deals/s, 0s left"}},
		{"faults", tournament.Single, "", []string{"first", "cheat"}, false,
			[]string{"Elo +596.5 or more, LOS 94.2 %", "4/4 deals, 8/8 games, 8 faults, 2.0 deals/s, 0s left"},
			[]string{"Elo +596.5 or more, LOS 94.2 %", "4/4 deals, 8/8 games, 8 faults, 0s left"}},
		{"round-robin", tournament.RoundRobin, "", []string{"first", "random", "greedy"}, false,
			[]string{"1 greedy +211 ± 145, 2 first -98 ± 91, 3 random -113 ± 92", "12/12 deals, 24/24 games, 6.0 deals/s, 0s left"},
			[]string{"1 greedy +211 ± 145, 2 first -98 ± 91", "12/12 deals, 6.0 deals/s, 0s left"}},
		{"swiss", tournament.Swiss, "", []string{"first", "random", "greedy"}, false,
			[]string{"1 greedy 2.62 points, 2 first 1.03 points, 3 random 0.84 points", "round 3, 12/12 deals, 24/24 games, 6.0 deals/s, 0s left"},
			[]string{"1 greedy 2.62 points", "round 3, 12/12 deals, 0s left"}},
		{"knockout", tournament.Knockout, "", []string{"first", "random", "greedy"}, false,
			[]string{"1 greedy +154 ± 137, 2 first -49 ± 183, 3 random -105 ± 179", "round 2, 8/8 deals, 16/16 games, 4.0 deals/s, 0s left"},
			[]string{"1 greedy +154 ± 137, 2 first -49 ± 183", "round 2, 8/8 deals, 0s left"}},
		{"repeats", tournament.Single, "", []string{"first", "last"}, true,
			[]string{"Elo +0.0 ± 1124.6, LOS 50.0 %", "4/4 deals, 1 distinct, 8/8 games, 2.0 deals/s, 0s left"},
			[]string{"Elo +0.0 ± 1124.6, LOS 50.0 %", "4/4 deals, 1 distinct, 0s left"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := teeko(t)
			if c.repeated {
				v = bare
			}
			r := run(t, v, c.format, 4, c.sprt, c.bots...)
			results := r.Results()
			for columns, want := range map[int][]string{79: c.want, 39: c.narrow} {
				got := []string{fitParts(r.strength(results), columns), fitParts(r.progress(results, 2*time.Second), columns)}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("in %d columns %q, want %q", columns, got, want)
				}
			}
		})
	}
}

// The figures of the score are those of the report at the same point.
func TestScoreIsOfTheReport(t *testing.T) {
	r := run(t, teeko(t), tournament.Single, 20, "elo0=0,elo1=10", "greedy", "random")
	var out bytes.Buffer
	r.WriteTables(&out)
	line := r.ScoreLine()
	for figure, row := range map[string]string{`Elo ([^,±]+[^,± ])`: "Elo              ", `LOS ([^,]+)`: "LOS              ", `LLR ([^(]+\([^)]+\))`: "LLR              "} {
		m := regexp.MustCompile(figure).FindStringSubmatch(line)
		if m == nil || !strings.Contains(out.String(), row+m[1]) {
			t.Errorf("%q: %s is not in the report:\n%s", line, figure, out.String())
		}
	}
}

// Parts that fit stay in their order; the first by rank is left out only if it is too long alone.
func TestFitParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []part
		for i := range rapid.IntRange(0, 6).Draw(t, "parts") {
			parts = append(parts, part{fmt.Sprint(i) + rapid.StringMatching(`[a-z±]{0,12}`).Draw(t, "text"), rapid.IntRange(0, 5).Draw(t, "rank")})
		}
		columns := rapid.IntRange(0, 60).Draw(t, "columns")
		line := fitParts(parts, columns)
		if text.Width(line) > columns {
			t.Fatalf("%q has more than %d columns", line, columns)
		}
		rest, first := line, part{rank: math.MaxInt}
		for _, p := range parts {
			if p.rank < first.rank {
				first = p
			}
			if after, ok := strings.CutPrefix(rest, p.text); ok {
				rest = strings.TrimPrefix(after, ", ")
			}
		}
		if rest != "" {
			t.Fatalf("%q of %v has no known rest %q", line, parts, rest)
		}
		if len(parts) > 0 && text.Width(first.text) <= columns && !strings.Contains(line, first.text) {
			t.Fatalf("%q of %v lacks %q", line, parts, first.text)
		}
	})
}

// A game's line has its place, seats, result and faults.
func TestGameLine(t *testing.T) {
	v, teams := refereetest.Variant(t, "brisca", "players=3"), refereetest.Variant(t, "tute", "players=4 teams=yes")
	seats := func(names ...string) (all []referee.ReplaySeat) {
		for _, n := range names {
			all = append(all, referee.ReplaySeat{Name: n})
		}
		return all
	}
	late := fault.New(0, 0, fault.Reason{Kind: fault.Late, Limit: 50, Margin: 5})
	late.Seat, late.Ply = 1, 7
	three := begun(t, v, tournament.Single, 2, "", "a", "b", "c")
	four := begun(t, teams, tournament.RoundRobin, 2, "", "a", "b", "c", "d")
	self := begun(t, v, tournament.Single, 2, "", "a")
	for _, c := range []struct {
		run  *Run
		game referee.Replay
		want string
	}{
		{three, referee.Replay{Seats: seats("a", "b", "c"), Ranks: []int{1, 2, 3}, Points: []float64{70, 50, 0}},
			"game 0/6: deal 2, rotation 1: 0 a 70, 1 b 50, 2 c 0: a wins, 1 ply, 1.50 s"},
		{three, referee.Replay{Seats: seats("a", "b", "c"), Ranks: []int{1, 1, 3}, Points: []float64{60, 60, 0.5}},
			"game 0/6: deal 2, rotation 1: 0 a 60, 1 b 60, 2 c 0.5: a and b tie for the first rank, 1 ply, 1.50 s"},
		{three, referee.Replay{Seats: seats("a", "b", "c"), Ranks: []int{1, 3, 2}, Points: []float64{1, 2, 3}, Faults: []referee.Fault{late}},
			"game 0/6: deal 2, rotation 1: 0 a 1, 1 b 2, 2 c 3: a wins, 1 ply, 1.50 s; b (seat 1) forfeits at ply 7: " + string(protocol.Timeout) + ": " + late.Text},
		{three, referee.Replay{Seats: seats("a", "b", "c"), Ranks: []int{1, 2, 2}, Points: []float64{1, 0, 0}, AdjudicationResult: &referee.AdjudicationResult{Kind: referee.AdjudicatedResignation, Seats: []int{2}}},
			"game 0/6: deal 2, rotation 1: 0 a 1, 1 b 0, 2 c 0: a wins, 1 ply, 1.50 s; adjudicated: c (seat 2) resigns, by the scores of all"},
		{four, referee.Replay{Seats: seats("a", "b", "c", "d"), Ranks: []int{2, 1, 2, 1}, Points: []float64{1, 2, 3, 4}},
			"game 0/24: match 3, deal 2, rotation 1: 0 a 1, 1 b 2, 2 c 3, 3 d 4: b and d win, 1 ply, 1.50 s"},
		{four, referee.Replay{Seats: seats("a", "b", "a", "b"), Ranks: []int{1, 1, 1, 1}, Points: []float64{1, 1, 1, 1}},
			"game 0/24: match 3, deal 2, rotation 1: 0 a 1, 1 b 1, 2 a 1, 3 b 1: draw, 1 ply, 1.50 s"},
		{self, referee.Replay{Seats: seats("a", "a", "a"), Ranks: []int{2, 1, 3}, Points: []float64{1, 2, 0}},
			"game 0/2: deal 2, rotation 1: 0 a 1, 1 a 2, 2 a 0: seat 1 wins, 1 ply, 1.50 s"},
	} {
		c.game.Match = referee.ReplayMatch{Deal: 2, Rotation: 1}
		c.game.Moves = make([]referee.ReplayMove, 1)
		g := &referee.GameResult{Replay: c.game, Took: 1500 * time.Millisecond}
		if got := c.run.GameLine(&tournament.Match{Number: 3}, g); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
