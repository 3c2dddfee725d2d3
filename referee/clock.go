package referee

import (
	"fmt"
	"math"
	"time"

	"github.com/timba-arena/timba/referee/clock"
)

// Clock says how long bots may think.
type Clock = clock.Clock

// ClockMS is a Clock in milliseconds.
type ClockMS = clock.MS

// DefaultClock is one second for each move.
var DefaultClock = clock.Default

// timer is one seat's time in one game.
type timer struct {
	clock Clock
	bank  time.Duration
}

func newTimer(c Clock) timer { return timer{clock: c, bank: c.Bank} }

// left returns the time for the next move.
func (t *timer) left() time.Duration {
	if t.clock.Bank == 0 {
		return t.clock.Move
	}
	return t.bank
}

// spend subtracts the time of a move.
func (t *timer) spend(d time.Duration) {
	if t.clock.Bank != 0 {
		t.bank = max(0, t.bank-d) + t.clock.Inc
	}
}

// micros returns a move's time as it counts: whole microseconds, rounded up, so that the
// bank can be computed from a replay. It is at least 1.
func micros(d time.Duration) time.Duration {
	return max(1, (d+time.Microsecond-1)/time.Microsecond) * time.Microsecond
}

// milliseconds returns a time in milliseconds with three decimals, rounded up.
func milliseconds(d time.Duration) float64 { return float64(micros(d)/time.Microsecond) / 1e3 }

// credits returns a time that others have taken, in milliseconds with three decimals, rounded down.
func credits(d time.Duration) float64 { return float64(d/time.Microsecond) / 1e3 }

// credited returns a credit in a replay as a time.
func credited(ms float64) time.Duration { return time.Duration(math.Round(ms*1e3)) * time.Microsecond }

// checkTime returns an error for the time of a bot's move that no game can have had.
func (m *ReplayMove) checkTime() error {
	switch {
	case m.MS <= 0:
		return fmt.Errorf("it took %v ms: every move takes more than 0 ms", m.MS)
	case m.Credit < 0 || m.Credit > m.MS:
		return fmt.Errorf("it took %v ms: others cannot have taken %v ms of that", m.MS, m.Credit)
	}
	return nil
}

// taken returns the bot's own time of a move in a replay, as it counted.
func (m *ReplayMove) taken() time.Duration {
	return time.Duration(math.Round(min(m.MS-m.Credit, 1e12)*1e3)) * time.Microsecond
}
