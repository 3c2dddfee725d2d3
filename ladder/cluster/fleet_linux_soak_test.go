//go:build soak && linux

package cluster

import "testing"

// Like TestGuests, but without TLS.
func TestGuestsWithoutTLS(t *testing.T) {
	t.Parallel()
	testGuests(t, false)
}

// Like TestSlowLine, but with 1 Mbit/s.
func TestSlowLineInTime(t *testing.T) {
	t.Parallel()
	const burst, speed = 1 << 30, 1e6 / 8
	t.Run("fetches", func(t *testing.T) { (&slowLine{burst: burst, speed: speed}).requireFetch(t, 3<<20) })
	t.Run("hands in", func(t *testing.T) { (&slowLine{burst: burst, speed: speed}).requireResult(t, 5<<20) })
}
