//go:build soak && linux

package experiment

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestTeekoStudy checks that experiments 1 and 4 agree with the weights and the learning rule that the
// study's figures imply, and do not agree with the rule that its text states.
func TestTeekoStudy(t *testing.T) {
	for name, rows := range map[string]map[string]Verdict{
		"teeko-1": {"as written": Differs, "published weights": Agrees},
		"teeko-4": {"as written": Differs, "replaced": Agrees},
	} {
		e := kit.Get[*Experiment](t)(Find(name))
		o := options(1)
		o.Scale = 0.2
		r := kit.Get[*Findings](t)(e.Run(t.Context(), o))
		seen := 0
		for _, f := range r.Tables[0].Figures {
			want, ok := rows[f.Row]
			if !ok || f.Column != "won" {
				continue
			}
			if seen++; f.Verdict != want {
				t.Errorf("%s, %s: %+v %s, want %s", name, f.Row, f.OurEstimate, f.Verdict, want)
			}
		}
		if seen != len(rows) {
			t.Errorf("%s: %d of %d rows", name, seen, len(rows))
		}
	}
}
