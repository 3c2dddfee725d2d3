package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// hold keeps the writer busy, so that what comes meanwhile becomes one group, until release.
func (c *competition) hold() (release func()) {
	c.tb.Helper()
	c.await(func(g *group) bool { return !g.running }) // an earlier writer would take what comes now
	held, end := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		kit.Must(c.tb, c.update(bg, func(*Tx) error {
			close(held)
			<-end
			return nil
		}))
	})
	<-held
	return func() {
		close(end)
		group.Wait()
	}
}

// lined returns when so many changes wait for the writer.
func (c *competition) lined(n int) {
	c.await(func(g *group) bool { return len(g.waiting) >= n })
}

// await returns when the changes that wait are so.
func (c *competition) await(so func(*group) bool) {
	kit.Until(c.tb, "the changes wait", func() bool {
		c.group.mu.Lock()
		defer c.group.mu.Unlock()
		return so(&c.group)
	})
}

// result is a match that was played, and what is to be kept of it.
type result struct {
	match   int64
	attempt int
	games   []*referee.Result
}

// Results of any matches, good and bad ones, that are finished in groups of any size give the same
// ratings to the last bit as one by one; the bad ones are refused and spoil nothing.
func TestGroupsAreTheSameRaced(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		one := newCompetition(t)
		many := newCompetition(t)
		defer one.Close()
		defer many.Close()
		ids := one.ids("@random", "@first", "@greedy")
		var list []result
		bad := map[int]bool{}
		most := 6
		if kit.Soak {
			most = 12
		}
		for i := range rapid.IntRange(1, most).Draw(rt, "matches") {
			at := rapid.IntRange(0, 2).Draw(rt, "pair")
			seed := rules.Seed{byte(i), 1}
			start := Start{New: &NewMatch{Ladder: "tebes-4", Versions: []int64{ids[at], ids[(at+1)%3]}}, Machine: "m", Seed: seed}
			a, b := one.Begin(bg, []Start{start})[0], many.Begin(bg, []Start{start})[0]
			kit.Must(t, a.Err)
			kit.Must(t, b.Err)
			r := result{a.Match.ID, 1, playMatch(t, a.Match, seed)}
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				r.games, bad[i] = r.games[1:], true
			case 1:
				r.attempt, bad[i] = 2, true
			}
			list = append(list, r)
		}
		finish := func(c *competition, i int, r result) {
			_, err := c.Finish(bg, r.match, r.attempt, r.games)
			if (err != nil) != bad[i] {
				rt.Fatalf("match %d: %v, and it is bad: %t", r.match, err, bad[i])
			}
		}
		for i, r := range list {
			finish(one, i, r)
		}
		for rest := list; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "group")
			release := many.hold()
			var group sync.WaitGroup
			// The first takes the writer's next turn alone, the others are a group.
			from := len(list) - len(rest)
			for i, r := range rest[:n] {
				group.Go(func() { finish(many, from+i, r) })
				if i == 0 {
					many.taken()
				} else {
					many.lined(i)
				}
			}
			release()
			group.Wait()
			rest = rest[n:]
		}
		same := func(what string, get func(*competition) any) {
			if diff := cmp.Diff(get(one), get(many)); diff != "" {
				rt.Fatalf("%s: %s", what, diff)
			}
		}
		same("standings", func(c *competition) any {
			s := kit.Get[[]ladder.Standing](t)(c.Standings(bg, "tebes-4"))
			for i := range s {
				s[i].Last = one.clock.at // the clocks differ
			}
			return s
		})
		same("changes", func(c *competition) any {
			var all [][]ladder.Change
			for _, r := range list {
				m := kit.Get[ladder.Match](t)(c.Match(bg, r.match))
				all = append(all, m.Changes)
			}
			return all
		})
		same("pairs", func(c *competition) any {
			_, pairs, err := c.Pairs(bg, "tebes-4")
			kit.Must(t, err)
			return pairs
		})
		wantSound(t, many.Store)
	})
}

// taken returns when a group is being written and nothing waits.
func (c *competition) taken() {
	c.await(func(g *group) bool { return g.running && len(g.waiting) == 0 })
}

// No group is larger than maxGroup, and all of a longer queue is written.
func TestGroupIsBounded(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	release := c.hold()
	var group sync.WaitGroup
	var mu sync.Mutex
	var order []int
	for i := range 2*maxGroup + 5 {
		group.Go(func() {
			errs := c.join(bg, func(context.Context, *Tx) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
				return nil
			})
			kit.Must(t, errs[0])
		})
		if i == 0 {
			c.taken()
		} else {
			c.lined(i)
		}
	}
	release()
	group.Wait()
	if len(order) != 2*maxGroup+5 || !slices.IsSorted(order) {
		t.Errorf("the order is %v", order)
	}
}

// A group whose transaction is gone, as SQLite ends it on a full disk, is written one by one: each
// has its own error.
func TestGroupThatFailsRaced(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	_, err := c.writer.Exec(`CREATE TRIGGER full BEFORE INSERT ON people WHEN NEW.name = 'full'
		BEGIN SELECT RAISE(ROLLBACK, 'for the test'); END`)
	kit.Must(t, err)
	add := func(name string) func(context.Context, *Tx) error {
		return func(ctx context.Context, tx *Tx) error {
			_, err := tx.AddPerson(ctx, name, 0, 1)
			return err
		}
	}
	errs := c.join(bg, add("anna"), add("full"), add("berta"), add("anna"))
	if errs[0] != nil || errs[2] != nil || !duplicate(errs[3]) {
		t.Errorf("the errors are %v", errs)
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "for the test") {
		t.Errorf("the one that fails says %v", errs[1])
	}
	people, err := c.People(bg)
	kit.Must(t, err)
	if len(people) != 2 {
		t.Errorf("there are %d people, want 2", len(people))
	}
}

// Where one of a group is refused, those before it are written together, and so are those after it.
func TestGroupWithOneRefused(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	no := errors.New("no")
	var at [9]time.Time // of the last transaction that has made it: none has the time of another
	var makes []func(context.Context, *Tx) error
	for i := range at {
		makes = append(makes, func(_ context.Context, tx *Tx) error {
			if at[i] = tx.now; i == 4 {
				return no
			}
			return nil
		})
	}
	for i, err := range c.join(bg, makes...) {
		if want := map[int]error{4: no}[i]; err != want {
			t.Errorf("change %d: %v", i, err)
		}
	}
	if together := slices.Compact(at[:]); len(together) != 3 {
		t.Errorf("they are written in %d transactions, want 3", len(together))
	}
}

// An attempt that is over cannot be finished or broken off, and what it brings has no effect.
func TestFencing(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.ids("@random", "@first")
	old := rules.Seed{1}
	begun := c.Begin(bg, []Start{{New: &NewMatch{Ladder: "tebes-4", Versions: ids}, Machine: "w1", Seed: old}})[0]
	kit.Must(t, begun.Err)
	m := begun.Match
	running, err := c.Running(bg)
	kit.Must(t, err)
	if want := []RunningAttempt{{m.ID, 1, "w1"}}; !slices.Equal(running, want) {
		t.Errorf("running are %v, want %v", running, want)
	}
	late := playMatch(t, m, old)
	_, err = c.Break(bg, m.ID, 1, phrase.Plain("machine w1 was lost"), false)
	kit.Must(t, err)
	over := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrOver) || ladder.CodeOf(err) != ladder.Conflict {
			t.Errorf("%s: says %v (%q)", what, err, ladder.CodeOf(err))
		}
	}
	_, err = c.Finish(bg, m.ID, 1, late)
	over("a result of an attempt that was broken off", err)
	seed := rules.Seed{2}
	again := c.Begin(bg, []Start{{Match: m.ID, Machine: "w2", Seed: seed}})[0]
	kit.Must(t, again.Err)
	if again.Attempt.Number != 2 || again.Attempt.Machine != "w2" {
		t.Errorf("the second attempt is %+v", again.Attempt)
	}
	_, err = c.Finish(bg, m.ID, 1, late)
	over("a result of an older attempt", err)
	_, err = c.Finish(bg, m.ID, 3, late)
	over("a result of an attempt to come", err)
	_, err = c.Break(bg, m.ID, 1, phrase.Plain("machine w1 was lost"), false)
	over("breaking an older attempt off", err)
	if n := c.count("results") + c.count("changes"); n != 0 {
		t.Errorf("%d rows were kept", n)
	}
	played := playMatch(t, m, seed)
	_, err = c.Finish(bg, m.ID, 2, played)
	kit.Must(t, err)
	_, err = c.Finish(bg, m.ID, 2, played)
	over("a result that comes twice", err)
	if n := c.count("changes"); n != 2 {
		t.Errorf("%d changes were kept, want 2", n)
	}
	wantSound(t, c.Store)
}

// Of several starts each is begun or refused alone.
func TestBeginManyRaced(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.ids("@random", "@first", "@greedy")
	m := kit.Get[ladder.Match](t)(c.AddMatch(bg, NewMatch{Ladder: "tebes-4", Versions: ids[:2]}))
	fresh := func(ids ...int64) *NewMatch { return &NewMatch{Ladder: "tebes-4", Versions: ids} }
	begun := c.Begin(bg, []Start{
		{New: fresh(ids[0], ids[1]), Seed: rules.Seed{1}},
		{New: fresh(ids[0], ids[0]), Seed: rules.Seed{2}},
		{Match: m.ID, Seed: rules.Seed{3}},
		{Match: m.ID, Seed: rules.Seed{4}},
		{New: fresh(ids[1], ids[2]), Seed: rules.Seed{5}},
	})
	for i, b := range begun {
		if bad := i == 1 || i == 3; (b.Err != nil) != bad {
			t.Errorf("start %d: %v", i, b.Err)
		}
		if b.Err == nil && (b.Match.State != ladder.Running || len(b.Match.Attempts) != 1 || b.Attempt.Commitment != referee.Commitment(rules.Seed{byte(i + 1)})) {
			t.Errorf("start %d: the match is %+v", i, b.Match)
		}
		if b.Err == nil {
			stored := kit.Get[ladder.Match](t)(c.Match(bg, b.Match.ID))
			if diff := cmp.Diff(stored, b.Match); diff != "" {
				t.Errorf("start %d: %s", i, diff)
			}
		}
	}
	if n := c.count("matches"); n != 3 {
		t.Errorf("there are %d matches, want 3", n)
	}
}

// Whatever happens, what matchmaking is told from memory is what the database has.
func TestStateIsTheDatabase(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := newCompetition(t)
		anna, err := c.AddPerson(bg, "anna", false)
		kit.Must(rt, err)
		own := c.live(anna.ID, "anna-bot")
		var open []int64
		seeds := map[int64]rules.Seed{}
		compare := func() {
			for _, name := range []string{"tebes-4", "brisca-4-teams", "tute-4"} {
				got := c.players(name)
				met := map[int64]map[int64]int{}
				for _, p := range got {
					met[p.ID] = c.met(name, p.ID)
				}
				c.cache.forget()
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
			b := c.Begin(bg, []Start{{New: &NewMatch{Ladder: name, Versions: ids[:slots]}, Seed: seed}})[0]
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
					m, err := c.Match(bg, id)
					kit.Must(rt, err)
					if m.State == ladder.Running {
						_, err = c.Finish(bg, id, 1, playMatch(t, m, seeds[id]))
						kit.Must(rt, err)
					}
				}
			case 3:
				if id := take(); id != 0 {
					kit.Must(rt, c.CancelMatch(bg, id, 0, phrase.Plain("cancelled")))
				}
			case 4:
				if id := take(); id != 0 {
					_, err := c.Break(bg, id, 1, phrase.Plain("stop"), false)
					kit.Must(rt, err)
				}
			case 5:
				if withdrawn {
					err = c.Restore(bg, own.BotID)
				} else {
					err = c.Withdraw(bg, own.BotID)
				}
				kit.Must(rt, err)
				withdrawn = !withdrawn
			case 6:
				kit.Must(rt, c.BlockPerson(bg, anna.ID, rapid.Bool().Draw(rt, "blocked")))
				live := open[:0]
				for _, id := range open {
					if m, err := c.Match(bg, id); err == nil && m.State == ladder.Running {
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

func playerIDs(players []matchmaking.Player) (ids []int64) {
	for _, p := range players {
		ids = append(ids, p.ID)
	}
	return ids
}

// What another program writes is noticed with the next change.
func TestStateNoticesOthersRaced(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	anna, err := c.AddPerson(bg, "anna", false)
	kit.Must(t, err)
	own := c.live(anna.ID, "anna-bot")
	playing := func() bool {
		return slices.Contains(playerIDs(c.players("tebes-4")), own.ID)
	}
	if !playing() {
		t.Fatal("the version does not play")
	}
	other, err := Open(string(c.Dir()), Options{})
	kit.Must(t, err)
	kit.Must(t, other.BlockPerson(bg, anna.ID, true))
	kit.Must(t, other.Close())
	_, err = c.AddPerson(bg, "berta", false)
	kit.Must(t, err)
	if playing() {
		t.Error("the version of the blocked person plays")
	}
}

// What another program writes is noticed also where the end of a context has ended the writer's connection meanwhile,
// and the next one counts anew.
func TestStateNoticesOthersOverAnotherConnection(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	anna := c.people("anna")[0]
	own := c.live(anna.ID, "anna-bot")
	if !slices.Contains(playerIDs(c.players("tebes-4")), own.ID) {
		t.Fatal("the version does not play")
	}
	other := kit.Get[*Store](t)(Open(string(c.Dir()), Options{}))
	kit.Must(t, other.BlockPerson(bg, anna.ID, true))
	kit.Must(t, other.Close())
	conn := kit.Get[*sql.Conn](t)(c.writer.Conn(bg))
	if err := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) {
		t.Fatal(err)
	}
	c.people("berta")
	if slices.Contains(playerIDs(c.players("tebes-4")), own.ID) {
		t.Error("the version of the blocked person plays")
	}
}
