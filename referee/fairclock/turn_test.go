package fairclock

import (
	"testing"
	"time"
)

// newTurn returns a turn of one minute that began at start, on an idle core.
func newTurn(start time.Time) (*TurnMeter, *player, *counted) {
	counters, bot := &counted{}, &player{}
	turn := NewTurn(newMonitor(counters, 1, new(Players)), start)
	turn.Attach(bot)
	turn.Begin(start, time.Minute)
	return &turn, bot, counters
}

// If the referee was away, nothing was measured, and all time that the bot did not use counts as lost: the
// wait from which the referee came back late may be the shorter part of that time.
func TestRefereeAwayWithoutReading(t *testing.T) {
	start := time.Unix(0, 0)
	turn, bot, _ := newTurn(start)
	if loss := turn.Loss(start, start.Add(2*firstReading), false); loss != (Loss{}) {
		t.Errorf("soon after the question it has lost %+v", loss)
	}
	if loss := turn.Loss(start, start.Add(10*time.Second), false); loss != (Loss{}).Plus(10*time.Second-firstReading) {
		t.Errorf("10s after the question it has lost %+v", loss)
	}
	turn.Begin(start, time.Minute) // from now on the bot's time is read
	bot.usage.CPU = 4 * time.Second
	if loss := turn.Loss(start, start.Add(10*time.Second), false); loss != (Loss{}).Plus(6*time.Second-firstReading) {
		t.Errorf("of 10s it has used 4s, and lost %+v", loss)
	}
}

// A late first reading says nothing about the time before it, so all of that counts as lost except the CPU
// time of the bot. If the bot has not read its input, it has delayed the reading itself.
func TestFirstReadingLate(t *testing.T) {
	for _, c := range []struct {
		name   string
		used   time.Duration
		filled bool
		want   time.Duration
	}{
		{"it slept", 0, false, 300 * ms},
		{"it used the core", 100 * ms, false, 200 * ms},
		{"it did not read", 0, true, 0},
	} {
		start := time.Unix(0, 0)
		turn, bot, counters := newTurn(start)
		turn.Sample(start.Add(300 * ms)) // notes that the worker was delayed
		turn.End()
		turn.Begin(start, time.Minute)
		if c.filled {
			turn.RecordFullInput()
		}
		bot.usage = Usage{CPU: c.used, AliveCPU: c.used}
		turn.Sample(start.Add(300 * ms))
		counters.IdleTime = 700 * ms
		if loss := turn.Loss(start, start.Add(1000*ms), true); loss != (Loss{}).Plus(c.want) {
			t.Errorf("%s: it has lost %+v, want %v", c.name, loss, c.want)
		}
	}
}

// If the referee is stopped while the core is idle, the bot is credited with the time by which the referee
// overslept.
func TestRefereeStopped(t *testing.T) {
	start := time.Unix(0, 0)
	turn, _, counters := newTurn(start)
	turn.Sample(start.Add(firstReading))
	turn.RecordSleep(start.Add(firstReading), start.Add(3*time.Second), 100*ms)
	counters.IdleTime = 3*time.Second - firstReading
	want := 3*time.Second - firstReading - 100*ms
	if loss := turn.Loss(start, start.Add(3*time.Second), true); loss != (Loss{}).Plus(want) {
		t.Errorf("it has lost %+v, want %v", loss, want)
	}
}

// Time in which a bot sleeps is not lost: at a reading that finds it asleep, its waits are over.
func TestAsleepBetweenReadings(t *testing.T) {
	start := time.Unix(0, 0)
	turn, bot, _ := newTurn(start)
	turn.Sample(start.Add(firstReading))
	bot.usage.Wait = 20 * ms
	turn.Sample(start.Add(500 * ms)) // asleep, after it has waited for 20 ms, while others run
	bot.ready = Threads{"1": 0}
	if loss := turn.Loss(start, start.Add(600*ms), false); loss.Certain != 20*ms+firstReading || loss.Possible != 120*ms+firstReading {
		t.Errorf("it has lost %+v, want 25ms, and 100ms more that are possible", loss)
	}
}
