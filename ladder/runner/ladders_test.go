package runner

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
)

// experiencedLadders are ladders whose house bots have had enough matches.
type experiencedLadders struct {
	Ladders
	pools map[string]*matchmaking.Pool // with the changed house bots
}

func (s experiencedLadders) Pool(ctx context.Context, name string) (*matchmaking.Pool, error) {
	p, err := s.Ladders.Pool(ctx, name)
	if err != nil || s.pools[name] == p {
		return p, err
	}
	s.pools[name] = p
	var played []matchmaking.Candidate
	p.Contains(func(p *matchmaking.Candidate) bool {
		if p.House {
			player := *p
			player.Matches += ladder.EnoughMatches
			played = append(played, player)
		}
		return false
	})
	p.Update(played, nil)
	return p, nil
}

// House bots that have had enough matches play each other once in Limits.Idle. A newcomer plays them without
// a pause.
func TestIdle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	now := time.Now()
	r := w.newRunner(1, func(o *runnerParts) {
		o.Store.Ladders, o.Limits.Idle = experiencedLadders{w.Store.Ladders, map[string]*matchmaking.Pool{}}, time.Hour
		o.Now = func() time.Time { return now }
	})
	l := &r.sources.ladders
	next := func() *ladder.Match {
		t.Helper()
		j := kit.Get[Job](t)(l.Next(t.Context(), Core{machine: r.placement.local(), now: now}))
		if j == nil {
			return nil
		}
		l.RecordStart(j)
		return j.(*matchJob).match
	}
	began := now
	for range 3 {
		if next() == nil {
			t.Fatalf("there is no match %s after the start", now.Sub(began))
		}
		for range 3 {
			if m := next(); m != nil {
				t.Errorf("house bots %q play again %s after the start", m.Bots, now.Sub(began))
			}
			if got, want := l.pauseEnd(now), began.Add(time.Hour); !got.Equal(want) {
				t.Errorf("the next look is at %s, want %s", got, want)
			}
			now = now.Add(time.Hour / 4)
		}
		now = now.Add(time.Hour / 4)
		began = now
	}
	if next() == nil {
		t.Error("there is no match after the hour")
	}
	v := w.bot("anna", player)
	for range 10 {
		if m := next(); m == nil || !slices.Contains(m.Versions, v.ID) {
			t.Errorf("a match beside the newcomer's is %+v", m)
		}
	}
}

// Ladders on which people's bots play come before ladders of house bots alone, whatever they cost.
func TestPeopleFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny+`
[[ladder]]
name = "teeko"
game = "teeko"
deals = 1
clock = {movetime = 600000, startup = 600000}
house = ["@random", "@greedy"]
`)
	r := w.newRunner(1, nil)
	r.charges.costs.coreSeconds["teeko"] = 1000
	ladders := func(n int) (names []string) {
		for range n {
			j := kit.Get[Job](t)(r.sources.ladders.Next(t.Context(), Core{machine: r.placement.local(), now: time.Now()}))
			names = append(names, ladderOf(j))
		}
		return names
	}
	if got := ladders(2); !slices.Equal(got, []string{"tebes", "tebes"}) {
		t.Errorf("house bots play on %q, want the ladder that cost least", got)
	}
	v := w.Submit(w.person.ID, "anna", hashOf(player))
	w.MakeLive(v.ID, store.BuildInfo{Hash: hashOf(player), Language: "Bash", Games: []string{"teeko"}, Command: []string{"sh", "bot.sh"}})
	if got := ladders(3); !slices.Equal(got, []string{"teeko", "teeko", "teeko"}) {
		t.Errorf("they play on %q, want the ladder with somebody's bot", got)
	}
}

// A ladder whose versions have all had enough matches plays once in Limits.Pause. A newcomer ends that at once.
func TestPause(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	now := time.Now()
	l := &w.newRunner(1, func(o *runnerParts) { o.Limits.Pause = time.Minute }).sources.ladders
	old, fresh := matchmaking.Candidate{Matches: ladder.EnoughMatches}, matchmaking.Candidate{Matches: ladder.EnoughMatches - 1}
	all := func(*matchmaking.Candidate) bool { return true }
	check := func(after time.Duration, want bool, players ...matchmaking.Candidate) {
		t.Helper()
		got, until := l.mustWait("tebes", matchmaking.NewPool([]int{0, 1}, 0, players), all, now.Add(after)), l.pauseEnd(now.Add(after))
		if got != want || got && !until.Equal(now.Add(time.Minute)) {
			t.Errorf("after %s it pauses: %t, until %s; want %t", after, got, until.Sub(now), want)
		}
	}
	check(0, false, old, old) // its first match since the start
	l.lastStart["tebes"] = now
	check(time.Second, true, old, old)
	check(time.Second, false, old, fresh)
	check(time.Minute, false, old, old)
}
