package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// TestBackupWhileWriting checks that a backup taken while matches finish is a complete data directory: it
// verifies, and a server can continue from it.
func TestBackupWhileWriting(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	ids := c.liveIDs("@random", "@first", "@greedy")
	kit.Must(t, os.WriteFile(c.Dir().Config(), []byte("workers = 1\n"), 0o600))
	ctx, stop := context.WithCancel(bg)
	began := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			c.playRatedMatch("tebes-4", ids[i%3], ids[(i+1)%3])
			if i == 1 {
				close(began)
			}
		}
	})
	<-began
	dir := filepath.Join(t.TempDir(), "backup")
	kit.Must(t, c.Backup(bg, dir, ""))
	stop()
	group.Wait()
	if data, err := os.ReadFile(datadir.Dir(dir).Config()); err != nil || string(data) != "workers = 1\n" {
		t.Errorf("the configuration is %q, %v", data, err)
	}
	ro, err := Open(dir, Options{ReadOnly: true})
	kit.Must(t, err)
	wantSound(t, ro)
	kit.Must(t, ro.Close())
	restored := openStore(t, dir)
	restored.syncConfig() // releases what ran when the backup was taken
	restored.playRatedMatch("tebes-4", restored.liveIDs("@random", "@first")...)
	wantSound(t, restored.Store)
	wantSound(t, c.Store)

	config := filepath.Join(t.TempDir(), "other.toml")
	kit.Must(t, os.WriteFile(config, []byte("workers = 2\n"), 0o600))
	other := filepath.Join(t.TempDir(), "backup")
	kit.Must(t, c.Backup(bg, other, config))
	if data, err := os.ReadFile(datadir.Dir(other).Config()); err != nil || string(data) != "workers = 2\n" {
		t.Errorf("the configuration that was named is %q, %v", data, err)
	}

	err = c.Backup(bg, dir, "")
	wantError(t, err, ladder.Conflict, fmt.Sprintf("backup: %q exists: name a directory that does not exist", dir))
}

// TestContextEnds checks that a transaction whose context ends returns the error of the context.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	for _, commits := range []bool{true, false} {
		ctx, cancel := context.WithCancel(bg)
		err := c.update(ctx, func(tx *Tx) error {
			cancel()
			for {
				if _, err := tx.Bundles(bg); errors.Is(err, sql.ErrTxDone) {
					if commits {
						return nil
					}
					return err
				}
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it commits: %v: %v", commits, err)
		}
	}
}

func TestVerifySound(t *testing.T) {
	t.Parallel()
	c := newBusyCompetition(t)
	var last, total int64
	found := kit.Get[[]Difference](t)(c.Verify(bg, func(done, all int64) { last, total = done, all }))
	for _, d := range found {
		t.Errorf("verify: %s", d)
	}
	if last != total || total != 10 { // 7 finished matches, 3 uploads
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

// TestFinishConcurrently checks that matches that finish at the same time, with new versions in between, give
// bit by bit the ratings of the same matches one after the other, as Verify computes them.
func TestFinishConcurrently(t *testing.T) {
	t.Parallel()
	pool := map[string][]pooledMatch{}
	for _, l := range testLadders(t) {
		for range 4 {
			m := ladderMatch(l)
			seed := referee.NewSeed()
			pool[l.Name] = append(pool[l.Name], pooledMatch{seed, playMatch(t, m, seed)})
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := newCompetition(t)
		defer c.Close()
		p := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
		c.addLive(p.ID, "anna-bot")
		ids := c.liveIDs("@random", "@first", "@greedy", "anna-bot")
		var jobs []func() error
		for range rapid.IntRange(2, 12).Draw(rt, "matches") {
			l := rapid.SampledFrom(testLadders(t)).Draw(rt, "ladder")
			x := rapid.SampledFrom(pool[l.Name]).Draw(rt, "played")
			versions := rapid.Permutation(ids).Draw(rt, "versions")[:l.Bots]
			m, err := c.Matches.Add(bg, NewMatch{Ladder: l.Name, Versions: versions})
			kit.Must(t, err)
			err = c.Matches.Start(bg, []MatchStart{{Match: m.ID, Seed: x.seed}})[0].Err
			kit.Must(t, err)
			jobs = append(jobs, func() error {
				_, err := c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), withNamesOf(m, x.games))
				return err
			})
		}
		matches := len(jobs)
		next := c.addBuilt(p.ID, "anna-bot")
		jobs = append(jobs, func() error { return c.Versions.Promote(bg, next.ID) })
		jobs = rapid.Permutation(jobs).Draw(rt, "order")
		var group errgroup.Group
		group.SetLimit(rapid.IntRange(1, 6).Draw(rt, "workers"))
		for _, job := range jobs {
			group.Go(job)
		}
		kit.Must(t, group.Wait())
		wantSound(t, c.Store)
		total := 0
		for _, l := range testLadders(t) {
			info := kit.Get[LadderInfo](t)(c.Ladders.Find(bg, l.Name))
			total += int(info.FinishedMatches)
		}
		if total != matches {
			t.Fatalf("%d matches have an order, not %d", total, matches)
		}
	})
}

// TestExclusive checks that no other process can have the directory during Rerate.
func TestExclusive(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	dir := string(c.Dir())
	_, err := Open(dir, Options{Exclusive: true})
	if ladder.CodeOf(err) != ladder.Unavailable {
		t.Errorf("beside a server it says %v", err)
	}
	kit.Must(t, c.Close())
	s, err := Open(dir, Options{Exclusive: true})
	kit.Must(t, err)
	kit.Must(t, s.Close())
	if _, err := Open(t.TempDir(), Options{Exclusive: true}); ladder.CodeOf(err) != ladder.NotFound {
		t.Errorf("an empty directory is %v", err)
	}
}

// TestGroupsGiveSameRatings checks that results that finish in groups of any size give the same ratings, to the
// last bit, as one by one. Bad results are refused and do not affect the others.
func TestGroupsGiveSameRatings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		one := newCompetition(t)
		many := newCompetition(t)
		defer one.Close()
		defer many.Close()
		ids := one.liveIDs("@random", "@first", "@greedy")
		var list []playedMatch
		bad := map[int]bool{}
		most := 6
		if kit.Soak {
			most = 12
		}
		for i := range rapid.IntRange(1, most).Draw(rt, "matches") {
			at := rapid.IntRange(0, 2).Draw(rt, "pair")
			seed := rules.Seed{byte(i), 1}
			start := MatchStart{New: &NewMatch{Ladder: "tebes-4", Versions: []int64{ids[at], ids[(at+1)%3]}}, Machine: "m", Seed: seed}
			a, b := one.Matches.Start(bg, []MatchStart{start})[0], many.Matches.Start(bg, []MatchStart{start})[0]
			kit.Must(t, a.Err)
			kit.Must(t, b.Err)
			r := playedMatch{a.Match.ID, 1, playMatch(t, a.Match, seed)}
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				r.games, bad[i] = r.games[1:], true
			case 1:
				r.attempt, bad[i] = 2, true
			}
			list = append(list, r)
		}
		finish := func(c *competition, i int, r playedMatch) {
			_, err := c.Matches.Finish(bg, r.match, r.attempt, r.games)
			if (err != nil) != bad[i] {
				rt.Fatalf("match %d: %v, and it is bad: %t", r.match, err, bad[i])
			}
		}
		for i, r := range list {
			finish(one, i, r)
		}
		for rest := list; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "group")
			release := many.holdWriter()
			var group sync.WaitGroup
			// The first takes the writer's next turn alone, the others are a group.
			from := len(list) - len(rest)
			for i, r := range rest[:n] {
				group.Go(func() { finish(many, from+i, r) })
				if i == 0 {
					many.awaitGroupWrite()
				} else {
					many.awaitQueued(i)
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
			s := kit.Get[[]ladder.Standing](t)(c.Ladders.Standings(bg, "tebes-4"))
			for i := range s {
				s[i].LastMatchAt = one.clock.at // the clocks differ
			}
			return s
		})
		same("changes", func(c *competition) any {
			var all [][]ladder.Change
			for _, r := range list {
				m := kit.Get[ladder.Match](t)(c.Matches.Find(bg, r.match))
				all = append(all, m.Changes)
			}
			return all
		})
		same("pairs", func(c *competition) any {
			_, pairs, err := c.Ladders.Pairs(bg, "tebes-4")
			kit.Must(t, err)
			return pairs
		})
		wantSound(t, many.Store)
	})
}

// TestGroupCommitFails checks that a group whose transaction is rolled back, as SQLite does on a full disk, is
// written one by one, and that each change has its own error.
func TestGroupCommitFails(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	_, err := c.writer.Exec(`CREATE TRIGGER full BEFORE INSERT ON people WHEN NEW.name = 'full'
		BEGIN SELECT RAISE(ROLLBACK, 'for the test'); END`)
	kit.Must(t, err)
	add := func(name string) func(context.Context, *Tx) error {
		return func(ctx context.Context, tx *Tx) error {
			_, err := tx.AddPerson(ctx, queries.AddPersonParams{Name: name, Handle: name, Created: 1})
			return err
		}
	}
	errs := c.updateGrouped(bg, add("anna"), add("full"), add("berta"), add("anna"))
	if errs[0] != nil || errs[2] != nil || !isDuplicate(errs[3]) {
		t.Errorf("the errors are %v", errs)
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "for the test") {
		t.Errorf("the one that fails says %v", errs[1])
	}
	people, err := c.People.List(bg)
	kit.Must(t, err)
	if len(people) != 2 {
		t.Errorf("there are %d people, want 2", len(people))
	}
}

// TestStartMany checks that each of several starts succeeds or fails alone.
func TestStartMany(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first", "@greedy")
	m := kit.Get[ladder.Match](t)(c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: ids[:2]}))
	fresh := func(ids ...int64) *NewMatch { return &NewMatch{Ladder: "tebes-4", Versions: ids} }
	begun := c.Matches.Start(bg, []MatchStart{
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
			stored := kit.Get[ladder.Match](t)(c.Matches.Find(bg, b.Match.ID))
			if diff := cmp.Diff(stored, b.Match); diff != "" {
				t.Errorf("start %d: %s", i, diff)
			}
		}
	}
	if n := c.countRows("matches"); n != 3 {
		t.Errorf("there are %d matches, want 3", n)
	}
}

// TestCacheDetectsOtherWriters checks that the next change notices what another program has written.
func TestCacheDetectsOtherWriters(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	anna, err := c.People.Add(bg, "anna", false)
	kit.Must(t, err)
	own := c.addLive(anna.ID, "anna-bot")
	playing := func() bool {
		return slices.Contains(playerIDs(c.players("tebes-4")), own.ID)
	}
	if !playing() {
		t.Fatal("the version does not play")
	}
	other, err := Open(string(c.Dir()), Options{})
	kit.Must(t, err)
	kit.Must(t, other.People.SetBlocked(bg, anna.ID, true))
	kit.Must(t, other.Close())
	_, err = c.People.Add(bg, "berta", false)
	kit.Must(t, err)
	if playing() {
		t.Error("the version of the blocked person plays")
	}
}
