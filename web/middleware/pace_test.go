package middleware

import (
	"testing"
	"time"
)

// TestPace checks that a client may be late by the window in total, no matter how fast it was before.
func TestPace(t *testing.T) {
	p := Pace{1000, 10 * time.Second}.start()
	for _, step := range []struct {
		bytes int
		took  time.Duration
		slack time.Duration
	}{
		{4000, 4 * time.Second, 10 * time.Second},  // just at the rate
		{0, 6 * time.Second, 4 * time.Second},      // late
		{1_000_000, time.Second, 10 * time.Second}, // what is fast makes up for it, and for no more
		{5000, 15 * time.Second, 0},                // as late as it may be
		{2000, 3 * time.Second, -1 * time.Second},  // too late: the next deadline has passed
	} {
		if p.countTransfer(step.bytes, step.took); p.slack != step.slack {
			t.Errorf("after %d bytes in %s it may be late by %s, want %s", step.bytes, step.took, p.slack, step.slack)
		}
	}
}
