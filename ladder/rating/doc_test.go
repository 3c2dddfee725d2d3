package rating

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/stats"
)

// The numbers in docs/ratings.md are those that the package computes.
func TestDocumentedFigures(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/ratings.md"))
	for _, want := range []string{tableOfK(t), firstMatch(t), laterMatch(t)} {
		if !strings.Contains(string(data), want) {
			t.Errorf("docs/ratings.md does not have\n%s", want)
		}
	}
	for name, value := range map[string]string{
		"newcomer's uncertainty": fmt.Sprintf("`u = %v`", Current.Newcomer),
		"forgetting":             fmt.Sprintf("+ %v", Current.Forget),
		"start":                  fmt.Sprintf("starts at %v", Current.Start),
		"full":                   fmt.Sprintf("%v U (s - E(x))", Current.EloPerScore),
		"full in K":              fmt.Sprintf("K = %v u / (1 + g U)", Current.EloPerScore),
	} {
		if !strings.Contains(string(data), value) {
			t.Errorf("docs/ratings.md does not have the %s, %s", name, value)
		}
	}
}

// The recipe of docs/ratings.md, "The same bits", gives the same bits.
func TestDocumentedBits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a := Player{Elo: 600 + 1500*random.Float64(), Uncertainty: 30 * random.Float64()}
		b := Player{Elo: 600 + 1500*random.Float64(), Uncertainty: 0.02 + random.Float64()*random.Float64()}
		score := float64(random.IntN(21)) / 20
		got, _ := playMatch(t, a, b, score)
		after, u := byRecipe(a.Elo, b.Elo, a.Uncertainty, b.Uncertainty, score)
		if got.EloAfter != after || got.Uncertainty != u {
			t.Fatalf("%+v against %+v, score %v: Elo %v and u %v, by the recipe %v and %v", a, b, score, got.EloAfter, got.Uncertainty, after, u)
		}
	}
}

// byRecipe computes the change of a bot as docs/ratings.md describes it, word by word.
func byRecipe(own, other, u, v, s float64) (after, uAfter float64) {
	const full = 694.8711
	const c = math.Ln10 / 400
	e := func(x float64) float64 {
		if x < -700 {
			return 0
		}
		n := 0
		for ; x < -0.25; n++ {
			x /= 2
		}
		y := 1.0
		for k := 13.0; k >= 1; k-- {
			y = 1 + float64(float64(x*y)/k)
		}
		for ; n > 0; n-- {
			y = float64(y * y)
		}
		return y
	}
	expected := func(d float64) float64 {
		if d >= 0 {
			return 1 / (1 + e(float64(c*-d)))
		}
		return e(float64(c*d)) / (1 + e(float64(c*d)))
	}
	d, both := own-other, u+v
	low, high := 0.0, float64(float64(full*both)*(s-expected(d)))
	for range 64 {
		m := (low + high) / 2
		if (float64(float64(full*both)*(s-expected(d+m))) > m) == (high > 0) {
			low = m
		} else {
			high = m
		}
	}
	x := expected(d + low)
	h := float64(float64(4*x) * (1 - x))
	g := h
	if low > 0.001 || low < -0.001 {
		g = float64(full*(x-expected(d))) / low
	}
	k := float64(full*u) / (1 + float64(g*both))
	return own + float64(k*(s-expected(d))), u - float64(float64(h*u)*u)/(1+float64(h*both)) + 0.0003
}

func playMatch(t *testing.T, a, b Player, score float64) (ladder.Change, ladder.Change) {
	t.Helper()
	moves := Current.matchChanges([]Player{a, b}, []int{0, 1}, []stats.Deal{deal(score)}, 1)
	return moves[0], moves[1]
}

// tableOfK returns the table of K after some numbers of even matches against opponents whose Elo is certain.
func tableOfK(t *testing.T) string {
	var head, line, us, ks strings.Builder
	p := Player{Elo: Current.Start, Uncertainty: Current.Newcomer}
	shown := []int{0, 1, 2, 3, 5, 10, 20, 50, 100, 300}
	for n := 0; len(shown) > 0; n++ {
		m, _ := playMatch(t, p, Player{Elo: Current.Start, Fixed: true}, 0.5)
		if n == shown[0] {
			shown = shown[1:]
			fmt.Fprintf(&head, " %d |", n)
			fmt.Fprint(&line, "---|")
			fmt.Fprintf(&us, " %.3f |", p.Uncertainty)
			fmt.Fprintf(&ks, " %.0f |", m.K)
		}
		p.Uncertainty = m.Uncertainty
	}
	return fmt.Sprintf("| matches played |%s\n|---|%s\n| u |%s\n| K |%s\n", &head, &line, &us, &ks)
}

// firstMatch returns the example of a newcomer that scores 0.65 against an old bot.
func firstMatch(t *testing.T) string {
	fresh, old := playMatch(t, Player{Elo: Current.Start, Uncertainty: Current.Newcomer}, Player{Elo: 1180, Uncertainty: 0.05}, 0.65)
	return exampleTable("fresh", fresh, "old", old)
}

// laterMatch returns the example of two old bots that score the same.
func laterMatch(t *testing.T) string {
	a, b := playMatch(t, Player{Elo: 1240, Uncertainty: 0.02}, Player{Elo: 1180, Uncertainty: 0.02}, 0.5)
	return exampleTable("first", a, "second", b)
}

func exampleTable(aName string, a ladder.Change, bName string, b ladder.Change) string {
	var out strings.Builder
	out.WriteString("| bot | Elo before | score | expected | K | Elo after | u after |\n|---|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		ladder.Change
	}{{aName, a}, {bName, b}} {
		fmt.Fprintf(&out, "| `%s` | %.1f | %.3f | %.3f | %.1f | %.1f | %.3f |\n", row.name, row.EloBefore, row.Score, row.ExpectedScore, row.K, row.EloAfter, row.Uncertainty)
	}
	return out.String()
}
