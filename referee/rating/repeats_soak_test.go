//go:build soak

package rating

import "testing"

// As TestRepeatsCoverage, the other way round.
func TestRepeatsCoverageToo(t *testing.T) {
	repeatsCoverage(t, coverage{"cards", cards, 0}, coverage{"board", board, 100})
}
