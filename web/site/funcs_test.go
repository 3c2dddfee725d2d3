package site

import (
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/messages"
)

// Durations have a unit after a space, and decimals the mark of the language.
func TestSpan(t *testing.T) {
	all := kit.Get[[]*messages.Language](t)(messages.All())
	for d, want := range map[time.Duration][3]string{
		26400 * time.Microsecond:    {"26 ms", "26 ms", "26 ms"},
		7840 * time.Millisecond:     {"7.8 s", "7,8 s", "7,8 s"},
		125*time.Second + 1_600_000: {"2 min 5 s", "2 min 5 s", "2 min 5 s"},
	} {
		for i, l := range all {
			if got := span(l, d); got != want[i] {
				t.Errorf("%s: %v is %q, want %q", l.Tag, d, got, want[i])
			}
		}
	}
}
