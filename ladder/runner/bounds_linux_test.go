package runner

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
)

// shuffler is a script that moves a piece to and fro as long as it can, and thinks for
// most of its time.
const shuffler = `while read -r verb ply left moves; do
	case $verb in
	timba) echo "ready shuffler 1" ;;
	turn)
		sleep 0.02
		set -- $moves
		next=$1
		for move; do test "$move" = "$back" && next=$move; done
		back=${next#*-}-${next%-*}
		echo "move $next" ;;
	bye) exit ;;
	esac
done
`

// bounded is a ladder whose bots take their time, so that what a busy machine does to
// them is little.
const bounded = `[limits]
bots = 100
[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4", limit = "10"}
deals = 1
clock = {movetime = 20000, startup = 60000}
house = ["@random"]
`

// ask adds endless matches between shufflers that a person asks for.
func (w *world) ask(by int64, n int, versions ...int64) (ids []int64) {
	w.t.Helper()
	for range n {
		m, err := w.store.AddMatch(w.t.Context(), store.NewMatch{
			Versions: versions, Game: "teeko", Options: map[string]string{"limit": "0"}, Clock: referee.Clock{Move: 20 * time.Second, Startup: time.Minute}, Deals: 100, AskedBy: by,
		})
		w.Must(err)
		ids = append(ids, m.ID)
	}
	return ids
}

// sleepy makes bots that sleep at each turn, so that matches take time and no CPU.
func (w *world) sleepy(n int) {
	w.t.Helper()
	for i := range n {
		w.bot(fmt.Sprintf("sleepy%d", i), script("test $verb = turn && sleep 0.02"))
	}
}

// Two bots that never end, asked for three times by one person: on one worker and on
// two, rated matches go on at 0.8 of their rate or more, and submissions come through.
func TestNeverEnding(t *testing.T) {
	kit.Slow(t)
	for _, cores := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d workers", cores), func(t *testing.T) {
			t.Parallel()
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
					m, err := w.store.Match(t.Context(), e.Match)
					w.Must(err)
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
			// One of a person's at a time; the running one and the waiting ones end.
			states := map[ladder.MatchState]int{}
			for _, id := range ids {
				m, err := w.store.Match(t.Context(), id)
				w.Must(err)
				states[m.State]++
			}
			if states[ladder.Running] != 1 || states[ladder.Waiting] != 2 {
				t.Errorf("of the endless matches: %v, want one that runs and two that wait", states)
			}
			w.Must(w.store.CancelMatch(t.Context(), ids[0], w.person.ID, "cancelled by anna"))
			r.Wake()
			r.until("the next one plays", func(e events.Event) bool { return e.Kind == events.MatchBegan && e.Match == ids[1] })
			w.Must(w.store.BlockPerson(t.Context(), w.person.ID, true))
			r.Wake()
			r.until("it is cancelled", func(e events.Event) bool { return e.Kind == events.MatchBroken && e.Match == ids[1] })
			for i, id := range ids {
				m, err := w.store.Match(t.Context(), id)
				w.Must(err)
				if m.State != ladder.Dropped || !strings.HasPrefix(m.Reason, "cancelled") {
					t.Errorf("endless match %d is %s, %q", i, m.State, m.Reason)
				}
			}
		})
	}
}

// A match that somebody asked for ends when it is over its time, its attempts before
// counted; whoever asked is told.
func TestOverTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bounded)
	a, b := w.bot("endless1", shuffler), w.bot("endless2", shuffler)
	id := w.ask(w.person.ID, 1, a.ID, b.ID)[0]
	begun := func(e events.Event) bool { return e.Kind == events.MatchBegan && e.Match == id }
	r := w.run(1, func(o *Options) { o.Time, o.Grace = time.Hour, 0 })
	r.until("it begins", begun)
	r.stop()
	if m, err := w.store.Match(t.Context(), id); err != nil || m.State != ladder.Waiting {
		t.Fatalf("after a stop it is %s, %v", m.State, err)
	}
	r = w.run(1, func(o *Options) { o.Time = time.Second })
	r.until("it is broken off", func(e events.Event) bool { return e.Kind == events.MatchBroken && e.Match == id })
	m, err := w.store.Match(t.Context(), id)
	w.Must(err)
	if m.State != ladder.Dropped || m.Reason != "cancelled: over its time of 1s" {
		t.Errorf("it is %s, %q", m.State, m.Reason)
	}
	messages, err := w.store.Messages(t.Context(), w.person.ID, 0, 10)
	w.Must(err)
	if len(messages) != 1 || !strings.Contains(messages[0].Text, "over its time") {
		t.Errorf("anna is told %+v", messages)
	}
	spent := ladder.Match{Attempts: []ladder.Attempt{{Began: time.Unix(0, 0), Ended: time.Unix(600, 0)}, {Began: time.Unix(0, 0), Ended: time.Unix(3000, 0)}}}
	r.Runner.Time, r.Runner.Share = time.Hour, 0
	if left := r.timeLeft(&spent); left != 0 {
		t.Errorf("after an hour of attempts %s are left of an hour", left)
	}
}

const large = 300 << 20

// Twelve seats of large bots fit into the memory one rotation at a time: never more
// processes run than fit, and the matches finish beside the rated ones.
func TestTwelveSeats(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bounded)
	dir := t.TempDir()
	// Each process leaves its number when it starts, and counts those that run.
	count := fmt.Sprintf("mkdir %[1]s/$$; n=0; for d in %[1]s/*; do test -d /proc/${d##*/} && n=$((n+1)); done; echo $n >> %[1]s.most\n", dir)
	var ids []int64
	for i := range 12 {
		ids = append(ids, w.bot(fmt.Sprintf("large%d", i), count+script("")).ID)
	}
	room := ladder.Room{Total: 12*large + large/2, Bot: large}
	var asked []int64
	other := w.Person("bob", false)
	for _, by := range []int64{w.person.ID, other.ID} {
		m, err := w.store.AddMatch(t.Context(), store.NewMatch{
			Versions: ids, Game: "podrida", Options: map[string]string{"players": "12", "deck": "40"}, Clock: w.config.Ladders[0].Clock, Deals: 1, AskedBy: by, Room: room,
		})
		w.Must(err)
		asked = append(asked, m.ID)
	}
	r := w.run(2, func(o *Options) { o.Room, o.Share, o.Time, o.Sandbox = room, 0.5, time.Hour, nil })
	finished := 0
	r.until("both matches of twelve", func(e events.Event) bool {
		if e.Kind == events.MatchBroken {
			t.Errorf("match %d is broken off: %s", e.Match, e.Text)
		}
		if e.Kind == events.MatchFinished && (e.Match == asked[0] || e.Match == asked[1]) {
			finished++
		}
		return finished == 2
	})
	r.stop()
	if used := r.local.memory.used; used != 0 {
		t.Errorf("%d bytes are reserved at the end", used)
	}
	most := mostProcesses(t, dir+".most")
	if most > 12 || most < 12 {
		t.Errorf("%d of the bots ran at once, want the 12 that fit", most)
	}
}

// mostProcesses returns the largest number in a file of a number a line.
func mostProcesses(t *testing.T, path string) (most int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(data)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
	}
	return most
}
