//go:build soak && linux

package cluster

import "testing"

// As TestGuests, where the network is trusted.
func TestGuestsWithoutTLS(t *testing.T) {
	t.Parallel()
	testGuests(t, false)
}

// As TestSlowLine, on one of 1 Mbit/s.
func TestSlowLineInTime(t *testing.T) {
	t.Parallel()
	const burst, speed = 1 << 30, 1e6 / 8
	t.Run("fetches", func(t *testing.T) { (&slowLine{burst: burst, speed: speed}).requireFetch(t, 3<<20) })
	t.Run("hands in", func(t *testing.T) { (&slowLine{burst: burst, speed: speed}).requireResult(t, 5<<20) })
}
