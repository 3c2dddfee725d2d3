package match

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/referee"
)

// The time of a match is that of its bots: 20 moves of a bot in each game, without credit, and without the
// game that is void.
func TestOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		void := false
		m := slow(t, referee.Clock{Move: time.Second, Startup: time.Second}, func(ply int) time.Duration {
			if ply >= 10 && !void {
				return time.Hour
			}
			return 4 * time.Second // 1 of its own
		}, func() float64 {
			if void {
				return .75
			}
			return .99
		})
		m.Deals = 2
		m.Observer.Trouble = func(err error) {
			if _, ok := errors.AsType[*VoidError](err); ok {
				void = true
			}
		}
		var own OwnTime
		m.Observer.Watch = own.Watch
		if err := m.Play(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if !void || own.Sum().Round(time.Millisecond) != 40*time.Second {
			t.Errorf("void: %v, the bots have taken %v", void, own.Sum())
		}
	})
}
