// Package laddertest provides the competition with which tests of the ladder and its API begin: a store, a
// configuration, people and versions of bots.
package laddertest

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/sample-bots/house"
)

// World is an open store in a temporary directory, with the ladders of a configuration.
type World struct {
	T      testing.TB
	Store  *store.Store
	Config *config.Config
}

// template returns the content of a database with the current schema and no rows. It is computed once per process.
var template = sync.OnceValues(func() (data []byte, err error) {
	dir, err := os.MkdirTemp("", "timba-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(dir, store.Options{Server: true, NoSync: true})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(datadir.Dir(dir).Database())
})

// Dir creates a data directory with an empty database of the current schema and returns its path. The directory is
// removed at the end of the test.
func Dir(t testing.TB) string {
	t.Helper()
	data := kit.Get[[]byte](t)(template())
	dir := t.TempDir()
	kit.Must(t, os.Chmod(dir, 0o700)) // only the server's user may read it, as in production
	kit.Must(t, os.WriteFile(datadir.Dir(dir).Database(), data, 0o600))
	return dir
}

// New opens a World for the test t and closes it at the end of the test. toml is the configuration; its ladders are
// stored. o has the options for opening the store.
func New(t testing.TB, toml string, o store.Options) *World {
	t.Helper()
	w := &World{T: t}
	var err error
	w.Config, err = config.Parse("test", []byte(toml))
	w.Must(err)
	o.Server, o.NoSync = true, true
	w.Store, err = store.Open(Dir(t), o)
	w.Must(err)
	t.Cleanup(func() {
		if err := w.Store.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Must(w.Store.Ladders.Sync(t.Context(), w.Config.Ladders))
	return w
}

// Must fails the test immediately unless err is nil.
func (w *World) Must(err error) {
	w.T.Helper()
	kit.Must(w.T, err)
}

// SyncHouseBots adds house bots (part of timba) to the store, ready to play: all simple ones, and those that the
// ladders name. hash returns the hash of a bot, given its name.
func (w *World) SyncHouseBots(hash func(name string) string) {
	w.T.Helper()
	var names []string
	for _, name := range house.SimpleNames() {
		names = append(names, "@"+name)
	}
	for _, l := range w.Config.Ladders {
		names = append(names, l.House...)
	}
	slices.Sort(names)
	var bots []store.HouseBot
	for _, name := range slices.Compact(names) {
		bots = append(bots, store.HouseBot{Name: name, Label: house.Version, Hash: hash(name), Games: house.Games(strings.TrimPrefix(name, "@"))})
	}
	w.Must(w.Store.Bots.SyncHouse(w.T.Context(), bots))
}

// AddPerson creates an account.
func (w *World) AddPerson(name string, admin bool) ladder.Person {
	w.T.Helper()
	return kit.Get[ladder.Person](w.T)(w.Store.People.Add(w.T.Context(), name, admin))
}

// Submit adds a version to the named bot of the person with the given ID. bundle is the hash of the upload; the
// upload need not exist.
func (w *World) Submit(person int64, bot, bundle string) ladder.Version {
	w.T.Helper()
	v, err := w.Store.Versions.Add(w.T.Context(), person, store.NewVersion{Bot: bot, Bundle: bundle}, w.Config.Limits)
	w.Must(err)
	return v
}

// MakeLive makes the version with the given ID the one with which its bot plays. b is the result of the version's
// build.
func (w *World) MakeLive(id int64, b store.BuildInfo) ladder.Version {
	w.T.Helper()
	w.Must(w.Store.Versions.SetBuildInfo(w.T.Context(), id, b))
	w.Must(w.Store.Versions.Promote(w.T.Context(), id))
	return kit.Get[ladder.Version](w.T)(w.Store.Versions.Find(w.T.Context(), id))
}
