//go:build !race || slowrace

package experiment

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestClaims checks that each claim of the studies is likely to be seen if the study's effect is the true one.
func TestClaims(t *testing.T) {
	studies := kit.Get[[]*Experiment](t)(Studies())
	if n := claimCount(studies); n != 32 {
		t.Errorf("%d claims", n)
	}
	for _, e := range studies {
		for _, f := range kit.Get[[]Evidence](t)(e.NewEvidence()) {
			if f.Power < 0.8 {
				t.Errorf("%s has the power %.2f", f.ID, f.Power)
			}
		}
	}
}

// TestPower checks that the power is the level where the effect is the smallest that matters, a half where the interval
// just reaches it, and higher with more values.
func TestPower(t *testing.T) {
	c := Claim{Measure: "wins", StudyEffect: 10, Threshold: 10, Spread: 100}
	if p := c.power(100, 0, 0.1); math.Abs(p-0.05) > 0.015 {
		t.Errorf("%v, want half the level", p)
	}
	c.StudyEffect = 10 + quantile(0.1, 99)*10
	if p := c.power(100, 0, 0.1); math.Abs(p-0.5) > 0.04 {
		t.Errorf("%v, want a half", p)
	}
	if p, more := c.power(100, 100, 0.1), c.power(400, 400, 0.1); p > 0.45 || more < 0.6 {
		t.Errorf("with other rows %v, with more values %v", p, more)
	}
}

// TestJudge checks Holm's method: after each decided claim the next has a narrower interval, and after the first that
// is undecided all have the same.
func TestJudge(t *testing.T) {
	all := claimCount(kit.Get[[]*Experiment](t)(Studies()))
	claim := &Claim{Threshold: 10}
	evidence := func(effect, p float64) Evidence {
		return Evidence{Claim: claim, Units: 100, Effect: effect, SE: 1, Degrees: 99, P: p, Verdict: NotRun}
	}
	list := []Evidence{evidence(11, 0.3), evidence(30, 0), evidence(-10, 1e-9), evidence(10, 1), {Claim: claim, Verdict: NotRun}}
	kit.Must(t, Judge(list))
	for i, want := range []Verdict{Undecided, Holds, DoesNotHold, Undecided, NotRun} {
		if list[i].Verdict != want {
			t.Errorf("claim %d: %s, want %s", i, list[i].Verdict, want)
		}
	}
	width := func(i int) float64 { return list[i].High - list[i].Low }
	if w := 2 * quantile(0.05/float64(all), 99); math.Abs(width(1)-w) > 1e-9 || width(2) >= w || width(0) >= width(2) || width(3) != width(0) {
		t.Errorf("the intervals are %v, %v, %v and %v wide, the first should be %v", width(1), width(2), width(0), width(3), w)
	}
}

// TestDifference checks the effect of values with and without values of other rows, and that equal values have an interval.
func TestDifference(t *testing.T) {
	c := Claim{Measure: "wins", Baseline: 5}
	if effect, se, degrees := c.difference([]float64{0, 20}, nil); effect != 5 || se != 10 || degrees != 1 {
		t.Errorf("%v, %v, %v", effect, se, degrees)
	}
	if effect, se, degrees := c.difference([]float64{0, 20}, []float64{0, 20}); effect != -5 || math.Abs(se-math.Sqrt(200)) > 1e-9 || math.Abs(degrees-2) > 1e-9 {
		t.Errorf("against others %v, %v, %v", effect, se, degrees)
	}
	if _, se, _ := c.difference([]float64{100, 100, 100, 100, 100}, nil); se < 10 || se > 40 {
		t.Errorf("the standard error of equal values is %v", se)
	}
	if _, se, _ := c.difference([]float64{0, 0, 0, 0, 0}, nil); se < 10 || se > 40 {
		t.Errorf("the standard error of shares of 0 is %v", se)
	}
}

// TestClaimOfGames checks that a claim plays only its own rows, by games and by seeds.
func TestClaimOfGames(t *testing.T) {
	kit.Slow(t)
	text, _, _ := strings.Cut(tiny, "[[table]]")
	const claim = `
[[claim]]
quote = "greedy wins"
rows = ["greedy - random"]
measure = "wins"
better = ["greedy"]
worse = ["random"]
reported = 80.0
least = 10.0
spread = 100.0
hours = 0.1
`
	e := parse(t, text+claim)
	list := kit.Get[[]Evidence](t)(e.NewEvidence())
	played := 0
	o := options(1)
	o.Progress = func(_, _ string, games, all int) { played = all }
	kit.Must(t, e.TestClaim(t.Context(), o, &list[0]))
	if f := list[0]; played != 20 || f.Games != 20 || f.Units != 20 || f.Effect < 50 || f.P > 0.01 || e.ClaimsWithin(0.05) != 0 || e.ClaimsWithin(0.1) != 1 {
		t.Errorf("%d games: %+v", played, f)
	}
	for from, want := range map[string]string{
		`rows = ["greedy - random"]`: "rows or better are missing", `quote = "greedy wins"`: "the quote is missing",
		"spread = 100.0": "spread and hours must be above 0", `better = ["greedy"]`: "rows or better are missing", "reported = 80.0": "it must be above least",
	} {
		if _, err := Parse("tiny", strings.Replace(text+claim, from, "", 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v, want %q", from, err, want)
		}
	}
	trained := `
title = "Trained"
study = "nobody"
cost = "1 s"
games = 100
repeats = 3
[[training]]
name = "first"
from = "initial"
opponent = "random"
mu = 0.01
limit = 50
hidden = true
[[training]]
name = "second"
from = "first"
opponent = "random"
fixed = true
limit = 50
[[training]]
name = "third"
from = "initial"
opponent = "random"
fixed = true
limit = 50
` + strings.NewReplacer("greedy - random", "second", `"wins"`, `"lms"`, `["greedy"]`, `["won"]`, `["random"]`, `["lost"]`).Replace(claim)
	e = parse(t, trained)
	list = kit.Get[[]Evidence](t)(e.NewEvidence())
	kit.Must(t, e.TestClaim(t.Context(), o, &list[0]))
	if f := list[0]; played != 600 || f.Games != 300 || f.Units != 3 || f.SE == 0 || f.SE > 50 {
		t.Errorf("%d games: %+v", played, f)
	}
}

// TestClaimResults checks that the results of claims are those of the claims in the files, and that the verdicts follow.
func TestClaimResults(t *testing.T) {
	for _, e := range kit.Get[[]*Experiment](t)(Studies()) {
		f, err := os.Open(filepath.Join("..", "results", e.Name+".csv"))
		kit.Must(t, err)
		table := csv.NewReader(f)
		table.Comment = '#'
		rows := kit.Get[[][]string](t)(table.ReadAll())
		f.Close()
		for i, want := range kit.Get[[]Evidence](t)(e.NewEvidence()) {
			got, fresh := rows[i+1], want.cells()
			if got[0] != fresh[0] || got[1] != fresh[1] || got[5] != fresh[5] || got[6] != fresh[6] || got[11] != fresh[11] {
				t.Errorf("%s: the result is of another claim: %v", want.ID, got)
			}
			low, errLow := strconv.ParseFloat(got[8], 64)
			high, errHigh := strconv.ParseFloat(got[9], 64)
			verdict := Undecided
			switch {
			case errLow != nil || errHigh != nil:
				verdict = NotRun
			case low > want.Threshold:
				verdict = Holds
			case high < want.Threshold:
				verdict = DoesNotHold
			}
			if got[12] != string(verdict) {
				t.Errorf("%s: %q, want %q", want.ID, got[12], verdict)
			}
		}
	}
}

// TestBadEndings checks that the measure exact finds moves at the end of a game of Brisca that cost points.
func TestBadEndings(t *testing.T) {
	kit.Slow(t)
	e := kit.Get[*Experiment](t)(FindStudy("brisca-levels"))
	o := options(1)
	e.Matches[1].Games = 40
	list := kit.Get[[]Evidence](t)(e.NewEvidence())
	claim := *list[2].Claim
	claim.Better = []string{"weighted"}
	weighted := Evidence{Claim: &claim}
	kit.Must(t, e.TestClaim(t.Context(), o, &list[2]))
	kit.Must(t, e.TestClaim(t.Context(), o, &weighted))
	if list[2].Effect != 100 || weighted.Effect > 80 {
		t.Errorf("of the games of minimax %v %% have exact endings, of weighted %v %%", list[2].Effect, weighted.Effect)
	}
}
