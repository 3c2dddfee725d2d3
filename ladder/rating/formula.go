package rating

import (
	"encoding/json"
	"fmt"
	"math"
)

// Formula is the rating rule with its constants. Every ladder keeps the one that its ratings were
// computed by, so that they can be computed again after the constants have changed.
type Formula struct {
	Rule     int     `json:"rule"`     // what match computes: 1 is all that there has been
	Start    float64 `json:"start"`    // the Elo of a bot that has no predecessor
	Anchor   float64 `json:"anchor"`   // the fixed rating of the anchor
	Newcomer float64 `json:"newcomer"` // the uncertainty before the first match
	Forget   float64 `json:"forget"`   // what is added to the uncertainty after every whole match
}

// Current is the formula of new ladders, and of all after timba admin rerate.
var Current = Formula{Rule: 1, Start: Start, Anchor: AnchorElo, Newcomer: Newcomer, Forget: forget}

// String returns the formula as ParseFormula reads it.
func (f Formula) String() string {
	data, err := json.Marshal(f)
	if err != nil {
		panic("rating: a formula cannot be encoded: " + err.Error()) // its numbers are finite
	}
	return string(data)
}

// ParseFormula reads a formula. One whose rule this package does not have is an error.
func ParseFormula(text string) (f Formula, err error) {
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return f, fmt.Errorf("rating: formula %q: %w", text, err)
	}
	if f.Rule != Current.Rule {
		return f, fmt.Errorf("rating: formula %q has rule %d, and this timba has rule %d: use the timba that wrote it", text, f.Rule, Current.Rule)
	}
	for _, x := range []float64{f.Start, f.Anchor, f.Newcomer, f.Forget} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return f, fmt.Errorf("rating: formula %q has the number %v: all are finite and 0 or more", text, x)
		}
	}
	return f, nil
}
