//go:build !race || slowrace

package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	deals := []Deal{
		{{0, 1, 2, 1, 4}, {0, 2, 2, 0.5, 0}, {1, 2, 2, 0.25, -2}},
		{{0, 1, 2, 0.75, 2}},
	}
	table := Table(3, deals)
	cell := table[0][1]
	if cell.Deals != 2 || cell.Games != 4 {
		t.Errorf("%d deals and %d games", cell.Deals, cell.Games)
	}
	near(t, "score", cell.Score.Value, 0.875, 1e-12)
	near(t, "points", cell.Points.Value, 3, 1e-12)
	near(t, "score from the other side", table[1][0].Score.Value, 0.125, 1e-12)
	near(t, "LOS from the other side", table[1][0].LOS, 1-cell.LOS, 1e-12)
	near(t, "low from the other side", table[1][0].Elo.Low, -cell.Elo.High, 1e-9)
	if diff := cmp.Diff([]ScoreClass{{0, 1}, {0.25, 1}}, table[1][0].Classes); diff != "" {
		t.Error(diff)
	}
	if table[2][2].Deals != 0 || table[2][1].Deals != 1 {
		t.Errorf("diagonal %+v, pair %+v", table[2][2], table[2][1])
	}
}
