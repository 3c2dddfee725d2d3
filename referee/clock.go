package referee

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/timba-arena/timba/protocol"
)

// Clock says how long bots may think: Move for each move, or, when Bank is set,
// Bank for the whole game and Inc more after each move.
type Clock struct {
	Move, Bank, Inc time.Duration
	Margin          time.Duration // what a move may be late before it is a fault
	Startup         time.Duration // from the start of a process to its "ready"
}

// DefaultClock is a second a move.
var DefaultClock = Clock{Move: time.Second, Margin: 50 * time.Millisecond, Startup: 10 * time.Second}

// Check refuses clocks that nobody could play by.
func (c Clock) Check() error {
	switch {
	case c.Move != 0 && c.Bank != 0:
		return fmt.Errorf("clock: movetime and bank cannot both be set: choose one")
	case c.Move == 0 && c.Bank == 0:
		return fmt.Errorf("clock: neither movetime nor bank is set: set one, such as a movetime of %d ms", DefaultClock.Move.Milliseconds())
	case c.Inc != 0 && c.Bank == 0:
		return fmt.Errorf("clock: inc goes with bank: set bank as well")
	}
	for _, t := range []struct {
		name string
		d    time.Duration
	}{{"movetime", c.Move}, {"bank", c.Bank}, {"inc", c.Inc}, {"margin", c.Margin}, {"start-up", c.Startup}} {
		if t.d < 0 || t.d > 24*time.Hour || t.d%time.Millisecond != 0 {
			return fmt.Errorf("clock: %s cannot be %v: give whole milliseconds, at most a day", t.name, t.d)
		}
	}
	if c.Startup == 0 {
		return fmt.Errorf("clock: start-up is not set: set it, such as to %d ms", DefaultClock.Startup.Milliseconds())
	}
	return nil
}

// pairs are the clock's keys in a "game" line.
func (c Clock) pairs() []protocol.Pair {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	if c.Bank == 0 {
		return []protocol.Pair{{Name: "movetime", Value: ms(c.Move)}}
	}
	return []protocol.Pair{{Name: "bank", Value: ms(c.Bank)}, {Name: "inc", Value: ms(c.Inc)}}
}

// replay is the clock as a replay has it.
func (c Clock) replay() ReplayClock {
	r := ReplayClock{Movetime: c.Move.Milliseconds(), Bank: c.Bank.Milliseconds(), Margin: c.Margin.Milliseconds()}
	if c.Bank != 0 {
		inc := c.Inc.Milliseconds()
		r.Inc = &inc
	}
	return r
}

// clock is the Clock again, but for the start-up, which is not kept.
func (r ReplayClock) clock() Clock {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	c := Clock{Move: ms(r.Movetime), Bank: ms(r.Bank), Margin: ms(r.Margin)}
	if r.Inc != nil {
		c.Inc = ms(*r.Inc)
	}
	return c
}

// check refuses a clock that no game can have had.
func (r ReplayClock) check() error {
	var inc int64
	if r.Inc != nil {
		inc = *r.Inc
	}
	if (r.Inc != nil) != (r.Bank != 0) {
		return fmt.Errorf("clock: bank and inc go together")
	}
	for _, n := range []int64{r.Movetime, r.Bank, inc, r.Margin} {
		if n < 0 || n > (24*time.Hour).Milliseconds() {
			return fmt.Errorf("clock: there is no time of %d ms: from 0 to a day", n)
		}
	}
	if (r.Movetime != 0) == (r.Bank != 0) {
		return fmt.Errorf("clock: it has either movetime or bank")
	}
	return nil
}

// timer is one seat's time in one game.
type timer struct {
	clock Clock
	bank  time.Duration
}

func (c Clock) timer() timer { return timer{clock: c, bank: c.Bank} }

// left is the time for the coming move.
func (t *timer) left() time.Duration {
	if t.clock.Bank == 0 {
		return t.clock.Move
	}
	return t.bank
}

// spend takes the time of a move.
func (t *timer) spend(d time.Duration) {
	if t.clock.Bank != 0 {
		t.bank = max(0, t.bank-d) + t.clock.Inc
	}
}

// micros is a move's time as it is counted: whole microseconds, rounded up, so
// that a replay tells what was left of a bank. No move takes none, whatever the
// clock can tell.
func micros(d time.Duration) time.Duration {
	return max(1, (d+time.Microsecond-1)/time.Microsecond) * time.Microsecond
}

// milliseconds is a time in milliseconds and thousandths, rounded up.
func milliseconds(d time.Duration) float64 { return float64(micros(d)/time.Microsecond) / 1e3 }

// taken is the time of a move in a replay, as it was counted.
func (m *ReplayMove) taken() time.Duration {
	return time.Duration(math.Round(m.MS*1e3)) * time.Microsecond
}
