package runner

import (
	"testing"
	"time"
)

func TestBackoffs(t *testing.T) {
	t.Parallel()
	b, now := backoffs{}, time.Now()
	if b.isBackingOff("a", now) || !b.nextEnd(now).IsZero() {
		t.Error("something is left alone before it failed")
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		b.recordFailure("a", now)
		until := b["a"].until
		if got := until.Sub(now); got != want*time.Second {
			t.Errorf("backoff %d is %s, want %s", i+1, got, want*time.Second)
		}
		if !b.isBackingOff("a", until.Add(-1)) || b.isBackingOff("a", until) || b.isBackingOff("b", now) {
			t.Errorf("backoff %d does not end when it should", i+1)
		}
	}
	b.recordFailure("b", now)
	if got := b.nextEnd(now).Sub(now); got != time.Second {
		t.Errorf("the first backoff that ends is in %s, want 1s", got)
	}
	for i := range 100 {
		b.recordFailure(matchName(int64(i)), now.Add(2*time.Hour)) // and are dropped
	}
	if len(b) != 100 {
		t.Errorf("%d failures are kept, also those that are long ago", len(b))
	}
	b.reset("b")
	if b.recordFailure("b", now); b["b"].until.Sub(now) != time.Second {
		t.Error("what worked begins anew")
	}
}
