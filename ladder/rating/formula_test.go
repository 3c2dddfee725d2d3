package rating

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/stats"
)

func TestFormula(t *testing.T) {
	f, err := ParseFormula(Current.String())
	if err != nil || f != Current {
		t.Errorf("%v is read as %v, %v", Current, f, err)
	}
	for text, want := range map[string]string{
		"":           "unexpected end",
		`{"rule":2}`: "has rule 2, and this timba has rule 1",
		`{"rule":1,"start":-1,"anchor":0,"newcomer":0,"forget":0}`: "has the number -1",
	} {
		if _, err := ParseFormula(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Match uses the constants of its formula.
func TestFormulaForgets(t *testing.T) {
	slow := Current
	slow.Forget += 0.5
	players := []Player{{Elo: 1000, Uncertainty: 1}, {Elo: 1000, Uncertainty: 1}}
	deals := []stats.Deal{deal(0.5)}
	now := Current.match(players, []int{0, 1}, deals, 1)
	then := slow.match(players, []int{0, 1}, deals, 1)
	near(t, "uncertainty", then[0].Uncertainty, now[0].Uncertainty+0.5, 1e-12)
}
