package experiment

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
)

// TestRun checks that the figures depend on the seed and not on the number of workers.
func TestRun(t *testing.T) {
	kit.Slow(t)
	e := parse(t, tiny)
	var first *Findings
	for _, workers := range []int{1, 3} {
		r := kit.Get[*Findings](t)(e.Run(t.Context(), options(workers)))
		r.Seconds = 0
		if first == nil {
			first = r
		} else if diff := cmp.Diff(asJSON(t, first), asJSON(t, r)); diff != "" {
			t.Error(diff)
		}
	}
	if first.Games != 40 || first.TotalGames != 40 || first.Interrupted {
		t.Errorf("%d games of %d", first.Games, first.TotalGames)
	}
	figures := first.Tables[0].Figures
	if won, lost := figures[0].OurEstimate.Value, figures[1].OurEstimate.Value; won < 60 || won+lost > 100 || figures[0].Games != 20 {
		t.Errorf("greedy won %v %%, random %v %%", won, lost)
	}
	if n := len(first.Tables[0].Figures); n != 3 {
		t.Errorf("%d figures where greedy plays in one row and random in two", n)
	}
	if total := first.Tables[1].Figures[2]; total.Row != TotalRow || total.Games != 40 || total.StudyGames != 40 {
		t.Errorf("the total is %+v", total)
	}
}

func TestMain(m *testing.M) {
	refereetest.Main(m, refereetest.Modes{"bot": refereetest.RunHouseBot}, nil)
}

func parse(t *testing.T, text string) *Experiment {
	t.Helper()
	return kit.Get[*Experiment](t)(Parse("tiny", text))
}

func options(workers int) Options {
	o := DefaultOptions
	o.Seed, o.Resolver = rules.Seed{7}, program.Resolver{}
	for range workers {
		o.Workers = append(o.Workers, cores.Any)
	}
	return o
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	return string(kit.Get[[]byte](t)(json.Marshal(v)))
}
