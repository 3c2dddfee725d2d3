package referee

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/rules"
)

// Limits and faults: who forfeits ranks last, later is better; a team-mate's
// fault is the team's; the others are ranked as the game ranks them.
func TestLimitsAndFaultsRanks(t *testing.T) {
	teams := &rules.Variant{Players: 4, Sides: 2}
	for _, c := range []struct {
		name    string
		variant *rules.Variant
		faults  []int // seats
		ranks   []int // of the game
		want    []int
		decided bool
	}{
		{"nobody", alone(2), nil, []int{2, 1}, []int{2, 1}, false},
		{"first of two", alone(2), []int{0}, []int{1, 2}, []int{2, 1}, true},
		{"second of two, tied", alone(2), []int{1}, []int{1, 1}, []int{1, 2}, true},
		{"both, first then second", alone(2), []int{0, 1}, []int{1, 1}, []int{2, 1}, true},
		{"both, second then first", alone(2), []int{1, 0}, []int{1, 1}, []int{1, 2}, true},
		{"a team", teams, []int{3}, []int{2, 1, 2, 1}, []int{1, 2, 1, 2}, true},
		{"both of a team", teams, []int{0, 2}, []int{1, 2, 1, 2}, []int{2, 1, 2, 1}, true},
		{"both teams", teams, []int{2, 1, 0}, []int{1, 1, 1, 1}, []int{2, 1, 2, 1}, true},
		{"the example", alone(4), []int{1, 3}, []int{2, 3, 1, 4}, []int{2, 4, 1, 3}, false},
		{"the winner of three", alone(3), []int{0}, []int{1, 2, 3}, []int{3, 1, 2}, false},
		{"a tie stays", alone(3), []int{1}, []int{1, 3, 1}, []int{1, 3, 1}, false},
		{"a tie with one who forfeits", alone(3), []int{2}, []int{1, 3, 1}, []int{1, 2, 3}, false},
		{"two of three", alone(3), []int{2, 0}, []int{1, 1, 1}, []int{2, 1, 3}, false},
		{"all three", alone(3), []int{2, 0, 1}, []int{1, 1, 1}, []int{2, 1, 3}, true},
		{"twelve", alone(12), []int{11, 0}, []int{1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9}, []int{11, 1, 1, 1, 4, 4, 4, 4, 8, 8, 8, 12}, false},
	} {
		f := forfeits{variant: c.variant}
		for _, seat := range c.faults {
			f.add(seat)
		}
		if diff := cmp.Diff(c.want, f.rank(c.ranks)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
		if f.endGame() != c.decided {
			t.Errorf("%s: decided is %v", c.name, f.endGame())
		}
	}
}

// The same, restated: sides sorted by who is better, ranks counted from that.
func TestLimitsAndFaultsRanksRestated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := alone(rapid.IntRange(2, 12).Draw(t, "players"))
		if rapid.Bool().Draw(t, "teams") {
			v = &rules.Variant{Players: 4, Sides: 2}
		}
		points := make([]float64, v.Players)
		for seat := range points {
			points[seat] = float64(rapid.IntRange(-3, 3).Draw(t, "points"))
		}
		faults := rapid.SliceOfN(rapid.IntRange(0, v.Players-1), 0, 2*v.Players).Draw(t, "faults")
		f := forfeits{variant: v}
		value := map[int]float64{} // of each side, higher is better
		for seat, p := range points {
			value[v.Side(seat)] += p
		}
		for i, seat := range faults {
			f.add(seat)
			if side := v.Side(seat); value[side] > -1000 {
				value[side] = -2000 + float64(i)
			}
		}
		got := f.rank(v.Ranks(points))
		for seat := range points {
			want := 1
			for _, other := range value {
				if other > value[v.Side(seat)] {
					want++
				}
			}
			if got[seat] != want {
				t.Fatalf("%d sides, points %v, faults %v: seat %d has rank %d, want %d", v.Sides, points, faults, seat, got[seat], want)
			}
		}
	})
}

func TestTally(t *testing.T) {
	game := func(rotation int, bots, ranks []int, points []float64, faults ...Fault) *GameResult {
		g := &GameResult{Bots: bots}
		g.Match = ReplayMatch{Deal: 1, Rotation: rotation}
		g.Ranks, g.Points, g.Faults = ranks, points, faults
		g.Moves = make([]ReplayMove, 10)
		for seat := range bots {
			g.Seats = append(g.Seats, ReplaySeat{Name: fmt.Sprintf("bot%d", bots[seat]), Version: fmt.Sprintf("v%d", bots[seat])})
		}
		return g
	}
	exit := Fault{Seat: 1, Ply: 4, Code: "exit", Text: "the process exited with status 1"}
	for _, c := range []struct {
		name  string
		v     *rules.Variant
		bots  int
		games []*GameResult
		want  []Score // names, versions and hashes left out
	}{
		{"two", alone(2), 2, []*GameResult{
			game(0, []int{0, 1}, []int{1, 2}, []float64{70, 50}),
			game(1, []int{1, 0}, []int{1, 1}, []float64{60, 60}),
			game(0, []int{0, 1}, []int{1, 2}, []float64{0, 12}, exit),
		}, []Score{
			{Record: rules.Record{Games: 3, Wins: 2, Draws: 1}, Points: 130},
			{Record: rules.Record{Games: 3, Losses: 2, Draws: 1}, Points: 122, Faults: 1},
		}},
		{"two bots in three seats: one game each, by the best seat", alone(3), 2, []*GameResult{
			game(0, []int{0, 1, 0}, []int{1, 2, 3}, []float64{60, 50, 10}),
			game(1, []int{1, 0, 1}, []int{1, 3, 1}, []float64{50, 20, 50}),
		}, []Score{
			{Record: rules.Record{Games: 2, Wins: 1, Losses: 1}, Points: 90},
			{Record: rules.Record{Games: 2, Wins: 1, Losses: 1}, Points: 150},
		}},
		{"teams: both seats are one side, and its win is no draw", &rules.Variant{Players: 4, Sides: 2}, 2, []*GameResult{
			game(0, []int{0, 1, 0, 1}, []int{1, 2, 1, 2}, []float64{40, 30, 30, 20}),
		}, []Score{
			{Record: rules.Record{Games: 1, Wins: 1}, Points: 70},
			{Record: rules.Record{Games: 1, Losses: 1}, Points: 50},
		}},
	} {
		tally := NewTally(c.v, identities(c.bots))
		for _, g := range c.games {
			tally.Add(g)
		}
		for i := range c.want {
			c.want[i].Name, c.want[i].Version, c.want[i].Hash = identities(2)[i].Name, fmt.Sprintf("v%d", i), identities(2)[i].SHA256
		}
		if diff := cmp.Diff(c.want, tally.Scores); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
		if tally.Games != len(c.games) || tally.Plies != 10*len(c.games) {
			t.Errorf("%s: %d games, %d plies", c.name, tally.Games, tally.Plies)
		}
	}
	tally := NewTally(alone(2), identities(2))
	tally.Add(game(1, []int{1, 0}, []int{1, 2}, []float64{0, 0}, exit))
	if got, want := tally.Faults[0].String(), "bot0 (seat 1, deal 1, rotation 1, ply 4): exit: the process exited with status 1"; got != want {
		t.Errorf("the fault is told as %q, want %q", got, want)
	}
}
