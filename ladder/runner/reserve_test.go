package runner

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
)

// What requested matches have saved up, and owe.
func TestCredit(t *testing.T) {
	t.Parallel()
	c := credit{share: 0.2}
	c.others(8*time.Second, 0)
	if c.Duration != 2*time.Second {
		t.Errorf("after 8 s of others: %s", c.Duration)
	}
	c.others(time.Hour, 0)
	if c.Duration != maxCredit {
		t.Errorf("after an hour of others: %s", c.Duration)
	}
	c.asked(time.Minute)
	if want := maxCredit - time.Minute; c.Duration != want {
		t.Errorf("after a minute of its own: %s, want %s", c.Duration, want)
	}
}

// Whatever jobs come and in whatever order they end: no more memory is handed out than
// there is, what waits is next, something can always go on, and all are done in the end.
func TestReserve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type task struct {
			number int
			need   int64
		}
		total := rapid.Int64Range(0, 20).Draw(t, "total")
		workers := rapid.IntRange(1, 5).Draw(t, "workers")
		count := rapid.IntRange(0, 30).Draw(t, "jobs")
		r := reserve[*task]{total: total}
		most := total
		if total == 0 {
			most = 20
		}
		made, begun := 0, 0
		choose := func() (*task, int64, error) {
			if made == count {
				return nil, 0, nil
			}
			made++
			need := rapid.Int64Range(0, most).Draw(t, "need")
			return &task{made, need}, need, nil
		}
		var running []*task
		for begun < count || len(running) > 0 {
			before := len(running)
			if len(running) < workers {
				next, err := r.next(choose)
				kit.Must(t, err)
				if next != nil {
					if begun++; next.number != begun {
						t.Fatalf("job %d has begun before job %d, which came first", next.number, begun)
					}
					running = append(running, next)
				}
			}
			var sum int64
			for _, j := range running {
				sum += j.need
			}
			if sum != r.used || total > 0 && sum > total {
				t.Fatalf("%d of %d are handed out, and %d are counted", sum, total, r.used)
			}
			if len(running) == 0 {
				t.Fatal("nothing runs, and nothing begins")
			}
			if len(running) == before || rapid.Bool().Draw(t, "ends") {
				i := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				r.release(running[i].need)
				running = append(running[:i], running[i+1:]...)
			}
		}
		if r.used != 0 || r.head != nil {
			t.Fatalf("at the end %d are handed out", r.used)
		}
	})
}
