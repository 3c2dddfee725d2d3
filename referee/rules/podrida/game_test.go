package podrida

import (
	"fmt"
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

func TestPodridaConformance(t *testing.T) {
	rulestest.Run(t, Game{}, rulestest.Options{
		Hidden: true,
		Total: func(v rules.Variant, s rules.State) error {
			for seat, p := range s.Result().Points {
				// -10, or 10 and the tricks, in each round.
				if worst := float64(-10 * v.(Variant).Rules.Rounds()); p < worst {
					return fmt.Errorf("seat %d has %v points, fewer than %v", seat, p, worst)
				}
			}
			return nil
		},
	})
}
