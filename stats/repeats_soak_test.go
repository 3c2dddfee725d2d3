//go:build soak

package stats

import "testing"

// TestRepeatsCoverageToo is TestRepeatsCoverage with the opposite signs.
func TestRepeatsCoverageToo(t *testing.T) {
	repeatsCoverage(t, coverage{"cards", cards, 0}, coverage{"board", board, 100})
}
