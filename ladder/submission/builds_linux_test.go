package submission

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

const day = 24 * time.Hour

// setAge makes a build look as if it was last used that long ago.
func (w *world) setAge(hash string, age time.Duration) {
	w.t.Helper()
	at := w.Now().Add(-age)
	kit.Must(w.t, os.Chtimes(w.Dir.Bot(hash), at, at))
}

// sweep calls SweepBuilds and checks which builds are left.
func (w *world) sweep(rules ladder.Storage, stand ...string) trees.Eviction {
	w.t.Helper()
	w.Config.Storage = rules
	done := kit.Get[trees.Eviction](w.t)(w.SweepBuilds(w.t.Context()))
	var found []string
	for _, e := range kit.Get[[]trees.Entry](w.t)(w.builds.Entries()) {
		found = append(found, e.Key)
	}
	slices.Sort(found)
	stand = slices.Sorted(slices.Values(stand))
	if diff := cmp.Diff(stand, found); diff != "" {
		w.t.Errorf("after %+v other builds stand (-want +found): %s", rules, diff)
	}
	w.checkClean()
	return done
}

// quickBot returns the files of a bot that needs no build. Each n gives other files.
func quickBot(n int) map[string]string {
	return map[string]string{"timba.toml": tebesOnly, "bot.sh": fmt.Sprintf("#!/bin/sh\n# %d\n%s", n, shellBot(""))}
}

// A build is removed if no active version and no waiting match needs it and it was not used for some days.
// The upload stays, and an old version that plays again gets an identical build.
func TestSweepBuilds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.buildOnly(w.add("bot", fileTree(t, built)))
	live := w.buildOnly(w.add("bot", fileTree(t, quickBot(1))))
	kit.Must(t, w.Store.Bots.SyncHouse(t.Context(), []store.HouseBot{{Name: ladder.Anchor, Label: "1", Hash: old.Bundle}}))
	house, err := w.Store.Bots.Find(t.Context(), ladder.Anchor)
	kit.Must(t, err)
	anchor, err := w.Store.Versions.List(t.Context(), house.ID, 0, -1)
	kit.Must(t, err)
	was := kit.Tree(t, w.Dir.Bot(old.Hash))
	rules := ladder.Storage{}

	w.sweep(rules, old.Hash, live.Hash) // just used
	w.setAge(live.Hash, 100*day)
	w.setAge(old.Hash, 29*day)
	w.sweep(rules, old.Hash, live.Hash) // one is live, the other one was used
	w.setAge(old.Hash, 31*day)

	// A match that waits needs the old version.
	m, err := w.Store.Matches.Add(t.Context(), store.NewMatch{RequestedBy: w.person.ID, Game: "tebes", Options: map[string]string{"size": "4"}, Clock: w.Config.Ladders[1].Clock, Deals: 1, Versions: []int64{old.ID, anchor[0].ID}})
	kit.Must(t, err)
	w.sweep(rules, old.Hash, live.Hash)
	kit.Must(t, w.Store.Matches.Cancel(t.Context(), m.ID, w.person.ID, phrase.Plain("")))

	// The old version is in use.
	playing, over := context.WithCancel(t.Context())
	if _, err := w.Resolve(playing, old); err != nil {
		t.Fatal(err)
	}
	w.setAge(old.Hash, 31*day)
	w.sweep(rules, old.Hash, live.Hash)
	over()
	kit.Until(t, "the build that nobody uses any more goes", func() bool {
		w.setAge(old.Hash, 31*day) // its release counts as a use
		done := kit.Get[trees.Eviction](t)(w.SweepBuilds(t.Context()))
		return done.Entries == 1 && done.Bytes > 0
	})
	w.sweep(rules, live.Hash)
	upload, err := w.Store.Versions.OpenUpload(old)
	kit.Must(t, err)
	upload.Close()
	bot, err := w.Resolve(t.Context(), old)
	kit.Must(t, err)
	if diff := cmp.Diff(was, kit.Tree(t, bot.Dir)); diff != "" {
		t.Errorf("restored it is another: %s", diff)
	}
	requireGame(t, w.Config.Ladders[1], bot)
	w.checkClean()
}

// Above the limit the oldest builds that nobody needs are removed. Needed builds stay.
func TestSweepRoom(t *testing.T) {
	// limit: storage.room
	t.Parallel()
	w := newWorld(t)
	var hashes []string
	for i := range 4 {
		v := w.buildOnly(w.add("bot", fileTree(t, quickBot(i))))
		w.setAge(v.Hash, time.Duration(4-i)*time.Hour)
		hashes = append(hashes, v.Hash)
	}
	surplus := func(room int64) (list []string) {
		for _, b := range kit.Get[[]trees.Entry](t)(SurplusBuilds(t.Context(), w.Store, ladder.Storage{Room: size.Bytes(room)}, w.Now())) {
			list = append(list, b.Key)
		}
		return list
	}
	each := kit.Get[[]trees.Entry](t)(w.builds.Entries())[0].Bytes
	for _, c := range []struct {
		room int64
		goes []string
		done trees.Eviction
	}{
		{4 * each, nil, trees.Eviction{RemainingBytes: 4 * each}},
		{4*each - 1, hashes[:1], trees.Eviction{Entries: 1, Bytes: each, RemainingBytes: 3 * each}},
		{each - 1, hashes[1:3], trees.Eviction{Entries: 2, Bytes: 2 * each, RemainingBytes: each}},
	} {
		if diff := cmp.Diff(c.goes, surplus(c.room)); diff != "" {
			t.Errorf("with room for %d: %s", c.room, diff)
		}
		if done := w.sweep(ladder.Storage{Room: size.Bytes(c.room)}, hashes[len(hashes)-int(c.done.RemainingBytes/each):]...); done != c.done {
			t.Errorf("with room for %d: %+v", c.room, done)
		}
	}
}

// While many goroutines resolve, use and release versions and builds are removed as fast as possible, no file
// of a resolved version is ever missing.
func TestSweepWhileResolved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var versions []ladder.Version
	files := map[string]map[string]string{}
	for i := range 3 { // the last one is live and is not removed
		v := w.buildOnly(w.add("bot", fileTree(t, quickBot(i))))
		versions = append(versions, v)
		files[v.Hash] = kit.Tree(t, w.Dir.Bot(v.Hash))
	}
	w.Config.Storage = ladder.Storage{Room: 1} // removes everything that nobody needs
	var resolvers, sweeper sync.WaitGroup
	var removed atomic.Int64
	stop := make(chan struct{})
	sweeper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			done, err := w.SweepBuilds(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			removed.Add(int64(done.Entries))
		}
	})
	rounds, least := 20, int64(20) // removals, so that there were many races
	if kit.Soak {
		rounds, least = 50, 30
	}
	for i := range 4 {
		resolvers.Go(func() {
			for n := 0; (n < rounds || removed.Load() < least) && !t.Failed(); n++ {
				v := versions[(i+n)%len(versions)]
				ctx, over := context.WithCancel(t.Context())
				bot, err := w.Resolve(ctx, v)
				if err != nil {
					t.Error(err)
				} else if diff := cmp.Diff(files[v.Hash], kit.Tree(t, bot.Dir)); diff != "" {
					t.Errorf("what is resolved is not there: %s", diff)
				}
				over()
			}
		})
	}
	resolvers.Wait()
	close(stop)
	sweeper.Wait()
	t.Logf("%d builds were removed meanwhile", removed.Load())
	if _, err := os.Stat(filepath.Join(w.Dir.Bot(versions[2].Hash), "bot.sh")); err != nil {
		t.Error(err)
	}
	w.checkClean()
}
