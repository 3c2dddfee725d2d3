package policy

import (
	"testing"
)

// A policy has as many bytes of its keys as its states need.
func TestWidth(t *testing.T) {
	for states, want := range map[int]int{0: 3, 1 << 20: 3, 1<<20 + 1: 4, 1 << 28: 4, 1<<28 + 1: 5, 1 << 40: 5} {
		if width := widthOf(states); width != want {
			t.Errorf("%d states: keys of %d bytes, not %d", states, width, want)
		}
	}
}
