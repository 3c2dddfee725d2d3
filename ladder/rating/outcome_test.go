package rating

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/rules"
)

// finishedMatch is a finished match with the entries before it.
type finishedMatch struct {
	match   ladder.Match
	variant *rules.Variant
	before  []Entry
	games   []ladder.FinishedGame
}

func (f finishedMatch) outcome(t *rapid.T) Outcome {
	return kit.Get[Outcome](t)(Current.Outcome(f.match, f.variant, f.before, f.games))
}

// matches draws finished matches of all kinds: two sides with one or two seats each, partners, four sides.
var matches = rapid.Custom(func(t *rapid.T) finishedMatch {
	l := rapid.SampledFrom([]ladder.Ladder{
		{Game: "tebes", Bots: 2},
		{Game: "brisca", Options: map[string]string{"players": "4", "teams": "yes"}, Bots: 2},
		{Game: "brisca", Options: map[string]string{"players": "4", "teams": "yes"}, Bots: 4},
		{Game: "tute", Options: map[string]string{"players": "3"}, Bots: 3},
		{Game: "podrida", Options: map[string]string{"players": "4"}, Bots: 4},
	}).Draw(t, "ladder")
	v, err := l.Variant()
	if err != nil {
		t.Fatal(err)
	}
	f := finishedMatch{variant: v, match: ladder.Match{ID: 7, Ladder: "a", Rated: true, Deals: rapid.IntRange(1, 4).Draw(t, "deals")}}
	f.match.Versions = rapid.SliceOfNDistinct(rapid.Int64Range(1, 99), l.Bots, l.Bots, rapid.ID).Draw(t, "versions")
	for slot, id := range f.match.Versions {
		e := Current.NewEntry(id, nil, slot == 0 && rapid.Bool().Draw(t, "anchor"))
		if !e.Fixed {
			e.Elo, e.Uncertainty = rapid.Float64Range(0, 2000).Draw(t, "elo"), rapid.Float64Range(0.001, Current.Newcomer).Draw(t, "uncertainty")
		}
		e.Matches = rapid.IntRange(0, 300).Draw(t, "matches")
		f.before = append(f.before, e)
	}
	for deal := range f.match.Deals {
		for rotation := range l.Bots {
			f.games = append(f.games, drawGame(t, v, deal, rotation, l.Bots))
		}
	}
	return f
})

// drawGame draws a game with points for each side.
func drawGame(t *rapid.T, v *rules.Variant, deal, rotation, slots int) ladder.FinishedGame {
	points := rapid.SliceOfN(rapid.IntRange(0, 3), v.Sides, v.Sides).Draw(t, "points")
	g := ladder.FinishedGame{Deal: deal, Rotation: rotation}
	for seat := range v.Players {
		own, rank := points[v.Side(seat)], 1
		for _, p := range points {
			if p > own {
				rank++
			}
		}
		g.Seats = append(g.Seats, ladder.GameSeat{
			Seat: seat, Slot: (seat + rotation) % slots, Rank: rank, Points: float64(own) / 3, Faults: rapid.IntRange(0, 1).Draw(t, "faults"),
		})
	}
	return g
}

// isSameBits reports whether two outcomes have the same bits.
func isSameBits(a, b Outcome) bool {
	return reflect.DeepEqual(a, b) && slices.EqualFunc(a.Entries, b.Entries, func(x, y Entry) bool {
		return math.Float64bits(x.Elo) == math.Float64bits(y.Elo) && math.Float64bits(x.Uncertainty) == math.Float64bits(y.Uncertainty)
	})
}

// The same match gives the same bits, whatever the order of its games, and does not change its arguments.
func TestSameBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := matches.Draw(t, "match")
		games, before := slices.Clone(f.games), slices.Clone(f.before)
		out := f.outcome(t)
		if !reflect.DeepEqual(games, f.games) || !slices.Equal(before, f.before) {
			t.Fatal("the match is another one afterwards")
		}
		if again := f.outcome(t); !isSameBits(out, again) {
			t.Fatalf("first %+v, then %+v", out, again)
		}
		f.games = rapid.Permutation(f.games).Draw(t, "order")
		if other := f.outcome(t); !isSameBits(out, other) {
			t.Fatalf("%+v, and in another order %+v", out, other)
		}
	})
}

// Each change is the difference between the entries before and after. The anchor does not change.
func TestChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := matches.Draw(t, "match")
		out := f.outcome(t)
		for slot, c := range out.Changes {
			b, a := f.before[slot], out.Entries[slot]
			want := ladder.Change{
				MatchID: 7, Ladder: "a", VersionID: f.match.Versions[slot], Slot: slot, Number: b.Matches + 1, EloBefore: b.Elo, EloAfter: a.Elo,
				K: c.K, Score: c.Score, ExpectedScore: c.ExpectedScore, Uncertainty: a.Uncertainty, Deals: f.match.Deals,
			}
			if c != want {
				t.Fatalf("slot %d: the change is %+v, want %+v", slot, c, want)
			}
			if a.VersionID != b.VersionID || a.Matches != b.Matches+1 || a.Fixed != b.Fixed || a.Fixed && a.Player != b.Player {
				t.Fatalf("slot %d: %+v becomes %+v", slot, b, a)
			}
			if got := b.Elo + float64(c.K*(c.Score-c.ExpectedScore)); got != a.Elo {
				t.Fatalf("slot %d: K × surprise leads to %v, not to %v", slot, got, a.Elo)
			}
		}
	})
}

// The totals include each game once for a slot: as a win for the only first side, or as a draw for all that
// share the first rank.
func TestSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := matches.Draw(t, "match")
		out := f.outcome(t)
		for slot, e := range out.Entries {
			var want Entry
			for _, g := range f.games {
				rank, firsts := 0, map[int]bool{}
				for _, s := range g.Seats {
					if s.Rank == 1 {
						firsts[f.variant.Side(s.Seat)] = true
					}
					if s.Slot == slot {
						rank = s.Rank
						want.Faults += s.Faults
					}
				}
				want.Games++
				switch {
				case rank > 1:
					want.Losses++
				case len(firsts) == 1:
					want.Wins++
				default:
					want.Draws++
				}
			}
			if e.Record != want.Record || e.Faults != want.Faults {
				t.Fatalf("slot %d: %+v with %d faults, want %+v with %d", slot, e.Record, e.Faults, want.Record, want.Faults)
			}
		}
	})
}

// Pairs consist of opponents, and all together weigh as much as the independent leads: m-1 for each deal of m
// sides. The scores of a pair are complementary, and the mean over a version's pairs is the score of its change.
func TestPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := matches.Draw(t, "match")
		out := f.outcome(t)
		deals, score, weight := 0.0, map[int64]float64{}, map[int64]float64{}
		for _, p := range out.Pairs {
			if p.A >= p.B || !(p.Score >= 0 && p.Score <= p.Deals+1e-9) || !(p.Squares >= -1e-9 && p.Squares <= p.Score+1e-9) {
				t.Fatalf("the pair %+v cannot be", p)
			}
			deals += p.Deals
			score[p.A] += p.Score
			score[p.B] += p.Deals - p.Score
			weight[p.A] += p.Deals
			weight[p.B] += p.Deals
		}
		sides := map[int]bool{}
		for seat := range f.variant.Players {
			sides[f.variant.Side(seat)] = true
		}
		if want := float64((len(sides) - 1) * f.match.Deals); math.Abs(deals-want) > 1e-9 {
			t.Fatalf("the pairs are of %v deals, want %v", deals, want)
		}
		for _, c := range out.Changes {
			if got := score[c.VersionID] / weight[c.VersionID]; math.Abs(got-c.Score) > 1e-9 {
				t.Fatalf("version %d scores %v by its pairs, and %v by its change", c.VersionID, got, c.Score)
			}
		}
	})
}

// markRepeated marks the games of all deals from one on as repeated.
func markRepeated(games []ladder.FinishedGame, from int) []ladder.FinishedGame {
	games = slices.Clone(games)
	for i := range games {
		games[i].Repeated = games[i].Deal >= from
	}
	return games
}

// A deal with one new game counts in full: the match changes ratings by the same bits as if all games were new.
func TestDistinctDealsAllCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := matches.Draw(t, "match")
		want := f.outcome(t)
		games := slices.Clone(f.games)
		for i := range games {
			games[i].Repeated = games[i].Rotation > 0
		}
		out, err := Current.Outcome(f.match, f.variant, f.before, games)
		if err != nil || !isSameBits(out, want) || out.Distinct != f.match.Deals {
			t.Fatalf("%+v and %v, want %+v", out, err, want)
		}
	})
}

// A match that repeats one deal changes ratings by that deal's share of a match, in its direction. Played
// once more it changes no rating, but its games are counted.
func TestRepeatedDealsCountOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := matches.Draw(t, "match")
		f.games = slices.DeleteFunc(f.games, func(g ladder.FinishedGame) bool { return g.Deal > 0 })
		one := slices.Clone(f.games)
		f.match.Deals = rapid.IntRange(2, 5).Draw(t, "times")
		for deal := 1; deal < f.match.Deals; deal++ {
			for _, g := range one {
				g.Deal = deal
				f.games = append(f.games, g)
			}
		}
		out, err := Current.Outcome(f.match, f.variant, f.before, markRepeated(f.games, 1))
		if err != nil || out.Distinct != 1 {
			t.Fatalf("%d deals count, %v", out.Distinct, err)
		}
		whole := f.outcome(t)
		for slot, c := range out.Changes {
			w := whole.Changes[slot]
			if c.Deals != 1 || math.Abs(c.Score-w.Score) > 1e-12 || c.EloBefore != w.EloBefore || c.ExpectedScore != w.ExpectedScore {
				t.Fatalf("slot %d: %+v, by all deals %+v", slot, c, w)
			}
			// A whole match reduces an uncertainty u at most to u/(1+u).
			u, share := f.before[slot].Uncertainty, 1/float64(f.match.Deals)
			if c.K > w.K+1e-9 || c.K < 0 || !f.before[slot].Fixed && c.Uncertainty < u/(1+share*u)-1e-9 {
				t.Fatalf("slot %d: K %v (by all deals %v) and uncertainty %v from %v, by a share of %v", slot, c.K, w.K, c.Uncertainty, u, share)
			}
			if out.Entries[slot].Record != whole.Entries[slot].Record {
				t.Fatalf("slot %d: %+v, want %+v", slot, out.Entries[slot], whole.Entries[slot])
			}
		}
		sum := 0.0
		for _, p := range out.Pairs {
			sum += p.Deals
		}
		if want := float64(f.variant.Sides - 1); math.Abs(sum-want) > 1e-9 {
			t.Fatalf("the pairs are of %v deals, want %v", sum, want)
		}
		again, err := Current.Outcome(f.match, f.variant, out.Entries, markRepeated(f.games, 0))
		if err != nil || again.Distinct != 0 || len(again.Pairs) != len(out.Pairs) {
			t.Fatalf("played again: %+v, %v", again, err)
		}
		for slot, e := range again.Entries {
			if e.Player != out.Entries[slot].Player || e.Matches != out.Entries[slot].Matches+1 || e.Games != 2*out.Entries[slot].Games-f.before[slot].Games {
				t.Fatalf("slot %d: %+v becomes %+v", slot, out.Entries[slot], e)
			}
			if c := again.Changes[slot]; c.K != 0 || c.EloAfter != c.EloBefore || c.Deals != 0 || math.Abs(c.Score-out.Changes[slot].Score) > 1e-12 {
				t.Fatalf("slot %d: the change is %+v", slot, c)
			}
		}
		for _, p := range again.Pairs {
			if p.Deals != 0 || p.Score != 0 || p.Squares != 0 {
				t.Fatalf("the pair %+v counts", p)
			}
		}
	})
}

// Games that cannot belong to the match are refused.
func TestRefuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := matches.Draw(t, "match")
		i := rapid.IntRange(0, len(f.games)-1).Draw(t, "game")
		g := &f.games[i]
		g.Seats = slices.Clone(g.Seats)
		rapid.SampledFrom([]func(){
			func() { g.Deal = f.match.Deals },
			func() { g.Deal = -1 },
			func() { g.Seats = g.Seats[1:] },
			func() { g.Seats[0].Seat = 1 },
			func() { g.Seats[0].Slot = len(f.before) },
			func() { g.Seats[0].Slot = -1 },
			func() { g.Seats[0].Points = math.NaN() },
			func() { f.before = f.before[1:] },
			func() { f.games = slices.DeleteFunc(f.games, func(g ladder.FinishedGame) bool { return g.Deal == 0 }) },
		}).Draw(t, "damage")()
		if out, err := Current.Outcome(f.match, f.variant, f.before, f.games); err == nil {
			t.Fatalf("it moves %+v", out)
		}
	})
}

func TestEnter(t *testing.T) {
	old := Entry{VersionID: 3, Player: Player{Elo: 1234, Uncertainty: 0.1}, Matches: 50, Faults: 2}
	for _, c := range []struct {
		name        string
		predecessor *Entry
		anchor      bool
		want        Player
	}{
		{"a new bot", nil, false, Player{Elo: Current.Start, Uncertainty: Current.Newcomer}},
		{"a new version", &old, false, Player{Elo: 1234, Uncertainty: Current.Newcomer}},
		{"the anchor", nil, true, Player{Elo: Current.Anchor, Fixed: true}},
		{"a new version of the anchor", &old, true, Player{Elo: Current.Anchor, Fixed: true}},
	} {
		if got, want := Current.NewEntry(4, c.predecessor, c.anchor), (Entry{VersionID: 4, Player: c.want}); got != want {
			t.Errorf("%s comes as %+v, want %+v", c.name, got, want)
		}
	}
}
