package house

import (
	"math"
	"strings"
	"testing"
)

// TestFitBriscaCases checks the bounds that the study's example gives by hand: the 3 before the 1 needs gain < 10 cost,
// the 3 before the 12 needs 18 gain > 82 cost. Its coefficients, 9.5 and 2, are within.
func TestFitBriscaCases(t *testing.T) {
	study := BriscaCase{Name: "study", Trump: "5o", Led: "10o", Hand: []string{"1o", "3o", "12e"}, Best: "3o"}
	cheap := BriscaCase{Name: "cheap", Trump: "5o", Led: "10c", Hand: []string{"2o", "7e"}, Best: "7e"}
	for _, c := range []struct {
		cases     []BriscaCase
		low, high float64
		fails     string
	}{
		{[]BriscaCase{study}, 2 * 82. / 18, 20, ""},
		{[]BriscaCase{cheap}, 0, 2 * 5. / 4, ""}, // 2 + 2 points are not worth a cost of 10 - 5
		{nil, 0, math.Inf(1), ""},
		{[]BriscaCase{study, cheap}, 0, 0, `for "study" (3o before 12e) gain must be above 4.556 times cost, for "cheap" (7e before 2o) below 1.25 times`},
		{[]BriscaCase{{Name: "bad", Trump: "5o", Led: "10o", Hand: []string{"2e", "12e"}, Best: "12e"}}, 0, 0, "no coefficients prefer 12e"},
		{[]BriscaCase{{Name: "bad", Trump: "5o", Led: "10o", Hand: []string{"2e"}, Best: "12e"}}, 0, 0, "is not in the hand"},
		{[]BriscaCase{{Name: "bad", Trump: "5o", Led: "13o", Hand: []string{"2e"}, Best: "2e"}}, 0, 0, `case "bad": "13o" is not a card`},
	} {
		gain, low, high, err := FitBriscaCases(c.cases)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%v: %v, want %q", c.cases, err, c.fails)
			}
			continue
		}
		if err != nil || math.Abs(low-c.low) > 1e-9 || high != c.high && math.Abs(high-c.high) > 1e-9 || gain <= low || gain >= high {
			t.Errorf("%v: gain %v from %v to %v, %v; want %v to %v", c.cases, gain, low, high, err, c.low, c.high)
		}
	}
}
