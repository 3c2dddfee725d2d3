//go:build soak

package stats

import "testing"

// As TestRepeatsCoverage, the other way round.
func TestRepeatsCoverageToo(t *testing.T) {
	repeatsCoverage(t, coverage{"cards", cards, 0}, coverage{"board", board, 100})
}
