package runner

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
)

// shuffler is a script that moves a piece to and fro as long as possible, and mostly thinks.
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

// bounded is a ladder whose bots have so much time that a busy machine hardly disturbs them.
const bounded = `[limits]
bots = 100
[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4", limit = "10"}
deals = 1
clock = {movetime = 600000, startup = 600000}
house = ["@random"]
`

// A requested match is dropped when it has used up its time, earlier attempts included. The person who
// requested it is told.
func TestOverTime(t *testing.T) {
	// limit: limits.time
	t.Parallel()
	w := newWorld(t, bounded)
	a, b := w.bot("endless1", shuffler), w.bot("endless2", shuffler)
	id := w.requestMatches(w.person.ID, 1, a.ID, b.ID)[0]
	begun := func(e events.Event) bool { return e.Kind == events.MatchStarted && e.Match == id }
	r := w.startRunner(1, func(o *runnerParts) { o.Limits.Time, o.Limits.Grace = time.Hour, 0 })
	r.awaitEvent("it begins", begun)
	r.stop()
	if m, err := w.Store.Matches.Find(t.Context(), id); err != nil || m.State != ladder.Waiting {
		t.Fatalf("after a stop it is %s, %v", m.State, err)
	}
	r = w.startRunner(1, func(o *runnerParts) { o.Limits.Time = time.Second })
	r.awaitEvent("it is broken off", func(e events.Event) bool { return e.Kind == events.MatchBroken && e.Match == id })
	m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), id))
	if m.State != ladder.Dropped || m.Reason.String() != "cancelled: over its time of 1s" {
		t.Errorf("it is %s, %q", m.State, m.Reason)
	}
	messages := kit.Get[[]ladder.Message](t)(w.Store.People.Messages(t.Context(), w.person.ID, 0, 10))
	if len(messages) != 1 || !strings.Contains(messages[0].Text().String(), "over its time") {
		t.Errorf("anna is told %+v", messages)
	}
	spent := ladder.Match{Attempts: []ladder.Attempt{{StartedAt: time.Unix(0, 0), EndedAt: time.Unix(600, 0)}, {StartedAt: time.Unix(0, 0), EndedAt: time.Unix(3000, 0)}}}
	r.Limits.Time = time.Hour
	if left := r.timeLeft(&spent); left != 0 {
		t.Errorf("after an hour of attempts %s are left of an hour", left)
	}
}

const large = 300 << 20

// Matches with six large bots only fit with one rotation at a time. The number of processes never exceeds the
// memory, and the matches finish beside rated ones.
func TestManySeats(t *testing.T) {
	// limit: limits.memory
	t.Parallel()
	const seats = 6
	w := newWorld(t, bounded)
	dir := t.TempDir()
	// Each process writes its ID and start time, because IDs are used again, and counts the processes that run.
	count := fmt.Sprintf(`start() {
	read -r stat 2>/dev/null </proc/$1/stat || return
	set -- ${stat##*) }
	test $1 = Z || echo ${20}
}
mkdir %[1]s/$$-$(start $$)
n=0
for d in %[1]s/*; do
	d=${d##*/}
	test "$(start ${d%%-*})" = ${d#*-} && n=$((n+1))
done
echo $n >> %[1]s.most
`, dir)
	var ids []int64
	for i := range seats {
		ids = append(ids, w.bot(fmt.Sprintf("large%d", i), count+script("")).ID)
	}
	room := ladder.MemoryBudget{Total: seats*large + large/2, Bot: large}
	var asked []int64
	other := w.AddPerson("bob", false)
	for _, by := range []int64{w.person.ID, other.ID} {
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Add(t.Context(), store.NewMatch{
			Versions: ids, Game: "podrida", Options: map[string]string{"players": fmt.Sprint(seats)}, Clock: w.Config.Ladders[0].Clock, Deals: 1, RequestedBy: by, Memory: room,
		}))
		asked = append(asked, m.ID)
	}
	r := w.startRunner(2, func(o *runnerParts) { o.Limits.Room, o.Limits.Time, o.programs.Box = room, time.Hour, nil })
	finished := 0
	r.awaitEvent("both matches", func(e events.Event) bool {
		if e.Kind == events.MatchBroken {
			t.Errorf("match %d is broken off: %s", e.Match, e.Text)
		}
		if e.Kind == events.MatchFinished && (e.Match == asked[0] || e.Match == asked[1]) {
			finished++
		}
		return finished == 2
	})
	r.stop()
	if jobs := r.placement.local().assignments; len(jobs) > 0 {
		t.Errorf("%d jobs have memory at the end", len(jobs))
	}
	most := maxProcesses(t, dir+".most")
	if most != seats {
		t.Errorf("%d of the bots ran at once, want the %d that fit", most, seats)
	}
}

// maxProcesses returns the largest number in a file with one number in each line.
func maxProcesses(t *testing.T, path string) (most int) {
	t.Helper()
	data := kit.Get[[]byte](t)(os.ReadFile(path))
	for _, word := range strings.Fields(string(data)) {
		n := kit.Get[int](t)(strconv.Atoi(word))
		most = max(most, n)
	}
	return most
}
