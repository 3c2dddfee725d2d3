package runner

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
)

// A runner caches maxKnownVersions versions. One more clears the cache.
func TestVersionsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	r := w.newRunner(1, nil)
	first := w.bot("late", script(""))
	for id := int64(1); id < maxKnownVersions; id++ {
		r.catalog.versions[-id] = cachedVersion{}
	}
	ids := []int64{first.ID, w.bot("later", script("")).ID}
	for i, want := range []int{maxKnownVersions, 1} {
		v := kit.Get[cachedVersion](t)(r.catalog.version(t.Context(), ids[i]))
		if v.ID != ids[i] || len(r.catalog.versions) != want {
			t.Errorf("version %d: it is %d, and %d are known, want %d", ids[i], v.ID, len(r.catalog.versions), want)
		}
	}
}

// The server's machine can start 32-bit programs, and has interpreters that machines do not report.
func TestLacks(t *testing.T) {
	t.Parallel()
	r := newWorld(t, tiny).newRunner(1, func(o *runnerParts) {
		o.Local.Arch = "amd64"
		o.host.has = func(name string) bool { return name == "python3" }
	})
	other := &machine{WorkerInfo: attempt.WorkerInfo{Name: "lab-1", Arch: "arm64", Interpreters: map[string]string{"node": "22.1.0"}}}
	for _, test := range []struct {
		needs       ladder.Needs
		here, there string // what the server's machine and another one lack
	}{
		{ladder.Needs{}, "", ""},
		{ladder.Needs{Arch: "arm64"}, "arm64", ""},
		{ladder.Needs{Arch: "386"}, "", "386"},
		{ladder.Needs{Interpreters: []string{"python3"}}, "", "python3"},
		{ladder.Needs{Interpreters: []string{"node"}}, "node", ""},
		{ladder.Needs{Interpreters: []string{"python3", "python2.0"}}, "python2.0", "python3"},
	} {
		v := cachedVersion{Version: ladder.Version{Needs: test.needs}}
		for m, want := range map[*machine]string{r.placement.local(): test.here, other: test.there} {
			if lacks := r.catalog.missingNeeds(m, v); (lacks.IsZero()) != (want == "") || !strings.Contains(lacks.String(), want) {
				t.Errorf("for %+v %s lacks %q, want %q", test.needs, m.Name, lacks, want)
			}
		}
		if len(v.Needs.Interpreters) != len(test.needs.Interpreters) {
			t.Errorf("of %+v %+v is left", test.needs, v.Needs)
		}
	}
}
