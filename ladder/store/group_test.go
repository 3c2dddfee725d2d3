//go:build !race || slowrace

package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// TestGroupIsBounded checks that no group is larger than maxGroup, and that all changes of a longer queue are
// written.
func TestGroupIsBounded(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	release := c.holdWriter()
	var group sync.WaitGroup
	var mu sync.Mutex
	var order []int
	for i := range 2*maxGroup + 5 {
		group.Go(func() {
			errs := c.updateGrouped(bg, func(context.Context, *Tx) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
				return nil
			})
			kit.Must(t, errs[0])
		})
		if i == 0 {
			c.awaitGroupWrite()
		} else {
			c.awaitQueued(i)
		}
	}
	release()
	group.Wait()
	if len(order) != 2*maxGroup+5 || !slices.IsSorted(order) {
		t.Errorf("the order is %v", order)
	}
}

// TestGroupWithOneRefused checks that, if one change of a group is refused, those before it are written
// together, and so are those after it.
func TestGroupWithOneRefused(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	no := errors.New("no")
	var at [9]time.Time // time of the last transaction that made each change
	var makes []func(context.Context, *Tx) error
	for i := range at {
		makes = append(makes, func(_ context.Context, tx *Tx) error {
			if at[i] = tx.now; i == 4 {
				return no
			}
			return nil
		})
	}
	for i, err := range c.updateGrouped(bg, makes...) {
		if want := map[int]error{4: no}[i]; err != want {
			t.Errorf("change %d: %v", i, err)
		}
	}
	if together := slices.Compact(at[:]); len(together) != 3 {
		t.Errorf("they are written in %d transactions, want 3", len(together))
	}
}

// TestAttemptOverIsRefused checks that an attempt that is over can be neither finished nor interrupted, and
// that its results have no effect.
func TestAttemptOverIsRefused(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	old := rules.Seed{1}
	begun := c.Matches.Start(bg, []MatchStart{{New: &NewMatch{Ladder: "tebes-4", Versions: ids}, Machine: "w1", Seed: old}})[0]
	kit.Must(t, begun.Err)
	m := begun.Match
	running, err := c.Matches.ListRunning(bg)
	kit.Must(t, err)
	if want := []RunningAttempt{{m.ID, 1, "w1"}}; !slices.Equal(running, want) {
		t.Errorf("running are %v, want %v", running, want)
	}
	late := playMatch(t, m, old)
	_, err = c.Matches.InterruptAttempt(bg, m.ID, 1, phrase.Plain("machine w1 was lost"), false)
	kit.Must(t, err)
	over := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrAttemptOver) || ladder.CodeOf(err) != ladder.Conflict {
			t.Errorf("%s: says %v (%q)", what, err, ladder.CodeOf(err))
		}
	}
	_, err = c.Matches.Finish(bg, m.ID, 1, late)
	over("a result of an attempt that was broken off", err)
	seed := rules.Seed{2}
	again := c.Matches.Start(bg, []MatchStart{{Match: m.ID, Machine: "w2", Seed: seed}})[0]
	kit.Must(t, again.Err)
	if again.Attempt.Number != 2 || again.Attempt.Machine != "w2" {
		t.Errorf("the second attempt is %+v", again.Attempt)
	}
	_, err = c.Matches.Finish(bg, m.ID, 1, late)
	over("a result of an older attempt", err)
	_, err = c.Matches.Finish(bg, m.ID, 3, late)
	over("a result of an attempt to come", err)
	_, err = c.Matches.InterruptAttempt(bg, m.ID, 1, phrase.Plain("machine w1 was lost"), false)
	over("breaking an older attempt off", err)
	if n := c.countRows("results") + c.countRows("changes"); n != 0 {
		t.Errorf("%d rows were kept", n)
	}
	played := playMatch(t, m, seed)
	_, err = c.Matches.Finish(bg, m.ID, 2, played)
	kit.Must(t, err)
	_, err = c.Matches.Finish(bg, m.ID, 2, played)
	over("a result that comes twice", err)
	if n := c.countRows("changes"); n != 2 {
		t.Errorf("%d changes were kept, want 2", n)
	}
	wantSound(t, c.Store)
}

// TestCacheMatchesDatabase checks that the cached ladders always match the database.
func TestCacheMatchesDatabase(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := newCompetition(t)
		anna, err := c.People.Add(bg, "anna", false)
		kit.Must(rt, err)
		own := c.addLive(anna.ID, "anna-bot")
		var open []int64
		seeds := map[int64]rules.Seed{}
		compare := func() {
			for _, name := range []string{"tebes-4", "brisca-4-teams", "tute-4"} {
				got := c.players(name)
				met := map[int64]map[int64]int{}
				for _, p := range got {
					met[p.ID] = c.met(name, p.ID)
				}
				c.cache.clear()
				want := c.players(name)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					rt.Fatalf("%s: %s", name, diff)
				}
				for _, p := range want {
					if diff := cmp.Diff(c.met(name, p.ID), met[p.ID]); diff != "" {
						rt.Fatalf("%s: who met %d: %s", name, p.ID, diff)
					}
				}
			}
		}
		begin := func() {
			name := rapid.SampledFrom([]string{"tebes-4", "brisca-4-teams"}).Draw(rt, "ladder")
			ids := rapid.Permutation(playerIDs(c.players(name))).Draw(rt, "players")
			slots := map[string]int{"tebes-4": 2, "brisca-4-teams": 4}[name]
			if len(ids) < slots {
				return
			}
			seed := referee.NewSeed()
			b := c.Matches.Start(bg, []MatchStart{{New: &NewMatch{Ladder: name, Versions: ids[:slots]}, Seed: seed}})[0]
			kit.Must(rt, b.Err)
			open, seeds[b.Match.ID] = append(open, b.Match.ID), seed
		}
		take := func() (id int64) {
			if len(open) == 0 {
				return 0
			}
			i := rapid.IntRange(0, len(open)-1).Draw(rt, "match")
			id = open[i]
			open = slices.Delete(open, i, i+1)
			return id
		}
		withdrawn := false
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch step := rapid.IntRange(0, 6).Draw(rt, "step"); step {
			default:
				begin()
			case 1, 2:
				if id := take(); id != 0 {
					m, err := c.Matches.Find(bg, id)
					kit.Must(rt, err)
					if m.State == ladder.Running {
						_, err = c.Matches.Finish(bg, id, 1, playMatch(t, m, seeds[id]))
						kit.Must(rt, err)
					}
				}
			case 3:
				if id := take(); id != 0 {
					kit.Must(rt, c.Matches.Cancel(bg, id, 0, phrase.Plain("cancelled")))
				}
			case 4:
				if id := take(); id != 0 {
					_, err := c.Matches.InterruptAttempt(bg, id, 1, phrase.Plain("stop"), false)
					kit.Must(rt, err)
				}
			case 5:
				if withdrawn {
					err = c.Bots.Restore(bg, own.BotID)
				} else {
					err = c.Bots.Withdraw(bg, own.BotID)
				}
				kit.Must(rt, err)
				withdrawn = !withdrawn
			case 6:
				kit.Must(rt, c.People.SetBlocked(bg, anna.ID, rapid.Bool().Draw(rt, "blocked")))
				live := open[:0]
				for _, id := range open {
					if m, err := c.Matches.Find(bg, id); err == nil && m.State == ladder.Running {
						live = append(live, id)
					}
				}
				open = live
			}
			if rapid.Bool().Draw(rt, "compare") {
				compare()
			}
		}
		compare()
	})
}

// TestCacheDetectsOtherWritersOverNewConnection checks that writes of another program are noticed even if the
// writer's connection was replaced in the meantime, because a context ended, and that counting starts anew on
// the new connection.
func TestCacheDetectsOtherWritersOverNewConnection(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	anna := c.addPeople("anna")[0]
	own := c.addLive(anna.ID, "anna-bot")
	if !slices.Contains(playerIDs(c.players("tebes-4")), own.ID) {
		t.Fatal("the version does not play")
	}
	other := kit.Get[*Store](t)(Open(string(c.Dir()), Options{}))
	kit.Must(t, other.People.SetBlocked(bg, anna.ID, true))
	kit.Must(t, other.Close())
	conn := kit.Get[*sql.Conn](t)(c.writer.Conn(bg))
	if err := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) {
		t.Fatal(err)
	}
	c.addPeople("berta")
	if slices.Contains(playerIDs(c.players("tebes-4")), own.ID) {
		t.Error("the version of the blocked person plays")
	}
}
