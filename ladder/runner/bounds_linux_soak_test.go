//go:build soak && linux

package runner

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
)

// sleepy makes bots that sleep at each turn, so that matches take time and no CPU.
func (w *world) sleepy(n int) {
	w.t.Helper()
	for i := range n {
		w.bot(fmt.Sprintf("sleepy%d", i), script("test $verb = turn && sleep 0.02"))
	}
}

// Two bots that never end, asked for three times by one person: on one worker and on
// two, rated matches go on at 0.8 of their rate or more, and submissions come through. TestNeverEnding
// has what comes of theirs.
func TestNeverEndingRates(t *testing.T) {
	for _, cores := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d workers", cores), func(t *testing.T) {
			w := newWorld(t, bounded)
			w.sleepy(3)
			a, b := w.bot("endless1", shuffler), w.bot("endless2", shuffler)
			var submitted atomic.Int64
			r := w.run(cores, func(o *Options) {
				o.Share, o.Time, o.Grace = 0.1, time.Hour, 0
				o.Submit = func(ctx context.Context, id int64, core int) error {
					submitted.Add(1)
					return w.store.Fail(ctx, id, "for the test")
				}
			})
			// The rate is that of the matches that are finished, each counted with the time
			// that it took: other work of the machine makes matches longer.
			count := 30 * cores
			rate := func() float64 {
				began, finished, sum := time.Now(), 0, time.Duration(0)
				r.until(fmt.Sprintf("%d rated matches", count), func(e events.Event) bool {
					if e.Kind != events.MatchFinished || e.Ladder == "" {
						return false
					}
					m := kit.Get[ladder.Match](t)(w.store.Match(t.Context(), e.Match))
					sum += m.Spent()
					finished++
					return finished == count
				})
				return sum.Seconds() / time.Since(began).Seconds()
			}
			rate() // the machine is warm
			before := rate()
			ids := w.ask(w.person.ID, 3, a.ID, b.ID)
			r.Wake()
			r.until("an endless match plays", func(e events.Event) bool { return e.Kind == events.MatchBegan && e.Match == ids[0] })
			v, err := w.store.AddVersion(t.Context(), w.person.ID, store.NewVersion{Bot: "other", Bundle: hashOf("other")}, w.config.Limits)
			w.Must(err)
			r.Wake()
			rate() // what it had saved up before it came is used up
			during := rate()
			t.Logf("matches of the ladder at a time: %.2f before, %.2f meanwhile", before, during)
			if during < 0.8*before {
				t.Errorf("%.2f rated matches at a time, %.2f before: less than 0.8 of it", during, before)
			}
			if v, err := w.store.Version(t.Context(), v.ID); err != nil || v.State != ladder.Failed {
				t.Errorf("the submission is %s, %v", v.State, err)
			}
		})
	}
}
