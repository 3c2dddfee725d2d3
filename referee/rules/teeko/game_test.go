package teeko

import (
	"fmt"
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

func TestTeekoConformance(t *testing.T) {
	rulestest.Run(t, Game{}, rulestest.Options{
		Dealt: func(v rules.Variant) bool { return !v.(Variant).Rules.Drop },
		Total: func(_ rules.Variant, s rules.State) error {
			if p := s.Result().Points; p[0]+p[1] != 1 {
				return fmt.Errorf("points %v do not add up to 1", p)
			}
			return nil
		},
	})
}
