package clock

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
)

// A clock comes back from a document as it was, but for the start-up, which a
// replay does not keep.
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

// No number is so large that it comes round to a time that is allowed.
func TestTooLarge(t *testing.T) {
	for _, n := range []int64{math.MaxInt64, math.MinInt64, math.MaxInt64/int64(time.Millisecond) + 2, -1} {
		for name, m := range map[string]MS{
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
		"1000 ms a move": {Move: time.Second},
		"5000 ms a game and 10 ms more after each move": {Bank: 5 * time.Second, Inc: 10 * time.Millisecond},
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}
