package referee

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
)

func TestClocksCheck(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		clock Clock
		want  string // in the error; "" for none
	}{
		{"default", DefaultClock, ""},
		{"bank", Clock{Bank: 60_000 * ms, Inc: 100 * ms, Startup: ms}, ""},
		{"bank without inc, no margin", Clock{Bank: ms, Startup: ms}, ""},
		{"a day", Clock{Move: 24 * time.Hour, Startup: ms}, ""},
		{"both", Clock{Move: ms, Bank: ms, Startup: ms}, "clock: movetime and bank cannot both be set: choose one"},
		{"neither", Clock{Startup: ms}, "clock: neither movetime nor bank is set: set one, such as a movetime of 1000 ms"},
		{"inc alone", Clock{Move: ms, Inc: ms, Startup: ms}, "clock: inc goes with bank: set bank as well"},
		{"no start-up", Clock{Move: ms}, "clock: start-up is not set"},
		{"negative movetime", Clock{Move: -ms, Startup: ms}, "clock: movetime cannot be -1ms: give whole milliseconds, at most a day"},
		{"negative bank", Clock{Bank: -ms, Startup: ms}, "clock: bank cannot be -1ms"},
		{"negative inc", Clock{Bank: ms, Inc: -ms, Startup: ms}, "clock: inc cannot be -1ms"},
		{"negative margin", Clock{Move: ms, Margin: -ms, Startup: ms}, "clock: margin cannot be -1ms"},
		{"microseconds", Clock{Move: 1500 * time.Microsecond, Startup: ms}, "clock: movetime cannot be 1.5ms"},
		{"more than a day", Clock{Move: 24*time.Hour + ms, Startup: ms}, "clock: movetime cannot be 24h0m0.001s"},
		{"the first bad value is told", Clock{Move: -ms, Margin: -ms, Startup: -ms}, "clock: movetime"},
	} {
		err := c.clock.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// SPEC.md, "Clocks": the keys of the "game" line, and the member of the replay.
func TestClocksTold(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		clock        Clock
		game, replay string
	}{
		{Clock{Move: 1000 * ms, Margin: 50 * ms}, "game g movetime=1000\n", `{"movetime":1000,"margin":50}`},
		{Clock{Bank: 60_000 * ms, Inc: 100 * ms}, "game g bank=60000 inc=100\n", `{"bank":60000,"inc":100,"margin":0}`},
		{Clock{Bank: 1 * ms, Margin: 7 * ms}, "game g bank=1 inc=0\n", `{"bank":1,"inc":0,"margin":7}`},
	} {
		if got := string(protocol.AppendGame(nil, "g", c.clock.Pairs()...)); got != c.game {
			t.Errorf("%+v is told as %q, want %q", c.clock, got, c.game)
		}
		got, err := json.Marshal(c.clock.InReplay())
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.replay {
			t.Errorf("%+v is kept as %s, want %s", c.clock, got, c.replay)
		}
	}
}

// SPEC.md, "Clocks": the time of a move is subtracted from the bank, which does not become negative, then inc
// is added.
func TestClocksSpent(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		clock Clock
		spent []time.Duration
		left  []time.Duration // before each move and after the last
	}{
		{"movetime", Clock{Move: 100 * ms}, []time.Duration{40 * ms, 120 * ms}, []time.Duration{100 * ms, 100 * ms, 100 * ms}},
		{"bank", Clock{Bank: 100 * ms}, []time.Duration{40 * ms, 59 * ms}, []time.Duration{100 * ms, 60 * ms, ms}},
		{"inc", Clock{Bank: 100 * ms, Inc: 10 * ms}, []time.Duration{40 * ms, 5 * ms}, []time.Duration{100 * ms, 70 * ms, 75 * ms}},
		{"into the margin", Clock{Bank: 100 * ms, Inc: 10 * ms, Margin: 50 * ms}, []time.Duration{130 * ms, 10 * ms}, []time.Duration{100 * ms, 10 * ms, 10 * ms}},
		{"an empty bank", Clock{Bank: 100 * ms, Margin: 50 * ms}, []time.Duration{130 * ms, 20 * ms}, []time.Duration{100 * ms, 0, 0}},
		{"exact", Clock{Bank: 100 * ms}, []time.Duration{1500 * time.Microsecond}, []time.Duration{100 * ms, 98_500 * time.Microsecond}},
	} {
		timer := timer{c.clock, c.clock.Bank}
		got := []time.Duration{timer.timeLeft()}
		for _, d := range c.spent {
			timer.spend(d)
			got = append(got, timer.timeLeft())
		}
		if diff := cmp.Diff(c.left, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestReplaysMilliseconds(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want float64
	}{
		{0, 0.001},
		{time.Nanosecond, 0.001},
		{41 * time.Microsecond, 0.041},
		{41_001 * time.Nanosecond, 0.042},
		{1234567 * time.Microsecond, 1234.567},
	} {
		if got := milliseconds(c.d); got != c.want {
			t.Errorf("%v is %v ms, want %v", c.d, got, c.want)
		}
	}
}

// A clock survives encoding and decoding. A replay lacks only the start-up time.
func TestMilliseconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.Int64Range(0, (24 * time.Hour).Milliseconds())
		ms := func(name string) time.Duration { return time.Duration(times.Draw(t, name)) * time.Millisecond }
		c := Clock{Margin: ms("margin"), Startup: ms("start-up")}
		if rapid.Bool().Draw(t, "with a bank") {
			c.Bank, c.Inc = ms("bank"), ms("inc")
		} else {
			c.Move = ms("move")
		}
		data := kit.Get[[]byte](t)(json.Marshal(c))
		var got Clock
		if err := json.Unmarshal(data, &got); err != nil || got != c {
			t.Fatalf("%+v is written %s and read %+v, %v", c, data, got, err)
		}
		want := c
		if want.Startup = 0; c.InReplay().Clock() != want {
			t.Fatalf("a replay has %+v of %+v", c.InReplay().Clock(), c)
		}
	})
}

// The keys of documents.
func TestJSON(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		clock Clock
		want  string
	}{
		{Clock{Move: 1000 * ms, Margin: 50 * ms, Startup: 10_000 * ms}, `{"movetime":1000,"margin":50,"startup":10000}`},
		{Clock{Bank: 60_000 * ms, Inc: 5 * ms, Startup: ms}, `{"bank":60000,"inc":5,"margin":0,"startup":1}`},
		{Clock{Bank: 60_000 * ms, Startup: ms}, `{"bank":60000,"margin":0,"startup":1}`},
	} {
		if got, err := json.Marshal(c.clock); err != nil || string(got) != c.want {
			t.Errorf("%+v is written %s, %v; want %s", c.clock, got, err, c.want)
		}
	}
}

// Very large numbers do not overflow to a valid time.
func TestTooLarge(t *testing.T) {
	for _, n := range []int64{math.MaxInt64, math.MinInt64, math.MaxInt64/int64(time.Millisecond) + 2, -1} {
		for name, m := range map[string]ClockMS{
			"movetime": {Movetime: n, Startup: 1}, "bank": {Bank: n, Startup: 1}, "inc": {Bank: 1, Inc: &n, Startup: 1},
			"margin": {Movetime: 1, Margin: n, Startup: 1}, "startup": {Movetime: 1, Startup: n},
		} {
			if m.Clock().Check() == nil {
				t.Errorf("a %s of %d ms is allowed", name, n)
			}
		}
	}
}

func TestString(t *testing.T) {
	for want, c := range map[string]Clock{
		"1 s a move":     {Move: time.Second},
		"300 s a game":   {Bank: 5 * time.Minute},
		"1001 ms a move": {Move: time.Second + time.Millisecond},
		"5 s a game and 10 ms more after each move": {Bank: 5 * time.Second, Inc: 10 * time.Millisecond},
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}
