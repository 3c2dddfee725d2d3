package elo

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/timba-arena/timba/ladder/rating"
)

// The figures of docs/ladder.md are those that the package computes.
func TestDocumentedFigures(t *testing.T) {
	data, err := os.ReadFile("../../docs/ladder.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{tableOfK(t), firstMatch(t), laterMatch(t)} {
		if !strings.Contains(string(data), want) {
			t.Errorf("docs/ladder.md does not have\n%s", want)
		}
	}
	for name, value := range map[string]string{
		"newcomer's uncertainty": fmt.Sprintf("`u = %v`", Newcomer),
		"forgetting":             fmt.Sprintf("+ %v", forget),
		"start":                  fmt.Sprintf("starts at %v", Start),
		"full":                   fmt.Sprintf("%.0f", full),
	} {
		if !strings.Contains(string(data), value) {
			t.Errorf("docs/ladder.md does not have the %s, %s", name, value)
		}
	}
}

func play(t *testing.T, a, b Player, score float64) (Move, Move) {
	t.Helper()
	moves, err := Match([]Player{a, b}, []int{0, 1}, []rating.Deal{deal(score)})
	if err != nil {
		t.Fatal(err)
	}
	return moves[0], moves[1]
}

// tableOfK is K after so many even matches against opponents known exactly.
func tableOfK(t *testing.T) string {
	var head, line, us, ks strings.Builder
	p := Player{Elo: Start, Uncertainty: Newcomer}
	shown := []int{0, 1, 2, 3, 5, 10, 20, 50, 100, 300}
	for n := 0; len(shown) > 0; n++ {
		m, _ := play(t, p, Player{Elo: Start, Held: true}, 0.5)
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

// firstMatch is a newcomer that scores 0.65 against an old bot.
func firstMatch(t *testing.T) string {
	fresh, old := play(t, Player{Elo: Start, Uncertainty: Newcomer}, Player{Elo: 1180, Uncertainty: 0.05}, 0.65)
	return exampleTable("fresh", fresh, "old", old)
}

// laterMatch is two old bots that come out even.
func laterMatch(t *testing.T) string {
	a, b := play(t, Player{Elo: 1240, Uncertainty: 0.02}, Player{Elo: 1180, Uncertainty: 0.02}, 0.5)
	return exampleTable("first", a, "second", b)
}

func exampleTable(aName string, a Move, bName string, b Move) string {
	var out strings.Builder
	out.WriteString("| bot | Elo before | score | expected | K | Elo after | u after |\n|---|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		Move
	}{{aName, a}, {bName, b}} {
		fmt.Fprintf(&out, "| `%s` | %.1f | %.3f | %.3f | %.1f | %.1f | %.3f |\n", row.name, row.Before, row.Score, row.Expected, row.K, row.After, row.Uncertainty)
	}
	return out.String()
}
