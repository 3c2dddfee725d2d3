package fault

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The note of the referee about a late answer does not count as a line of the bot.
func TestReadLog(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]Circumstances{
		"":       {},
		"a\nb\n": {Log: BotLog{Lines: []string{"a", "b"}}},
		"a\n" + ArrivalNote(true, 428*time.Millisecond) + "\n":  {Log: BotLog{Lines: []string{"a"}}, Answer: LateAnswer{Arrival: Came, Took: 428}},
		"a\n" + ArrivalNote(false, 428*time.Millisecond) + "\n": {Log: BotLog{Lines: []string{"a"}}, Answer: LateAnswer{Arrival: StillMissing, Took: 428}},
		ArrivalNote(true, 428*time.Millisecond) + "\nb":         {Log: BotLog{Lines: []string{"[the answer came after 428 ms]", "b"}}},
	} {
		var c Circumstances
		if c.ReadLog([]byte(log)); !cmp.Equal(c, want, cmp.FilterValues(func(a, b []string) bool { return len(a)+len(b) == 0 }, cmp.Ignore())) {
			t.Errorf("%q: %+v, want %+v", log, c, want)
		}
	}
	for ms, want := range map[int64]int64{4: 4, 42: 42, 428: 430, 1449: 1400, 99_951: 100_000} {
		if got := roundMilliseconds(ms); got != want {
			t.Errorf("about %d ms: %d, want %d", ms, got, want)
		}
	}
}
