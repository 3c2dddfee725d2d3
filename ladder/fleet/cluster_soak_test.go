//go:build soak && linux

package fleet

import "testing"

// As TestGuests, where the network is trusted.
func TestGuestsWithoutTLS(t *testing.T) {
	t.Parallel()
	guests(t, false)
}
