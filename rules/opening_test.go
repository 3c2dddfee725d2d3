package rules

import "testing"

// TestStandardOpening checks that an opening leaves two thirds of a short game.
func TestStandardOpening(t *testing.T) {
	for plies, want := range map[int]int{2: 0, 9: 3, 17: 5, 18: DefaultOpening, 200: DefaultOpening} {
		if got := (&Variant{MaxPlies: plies}).StandardOpening(); got != want {
			t.Errorf("%d plies: %d, want %d", plies, got, want)
		}
	}
}
