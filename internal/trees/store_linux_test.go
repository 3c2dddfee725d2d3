package trees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// clock advances by a second whenever it is read.
type clock struct{ seconds atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(1e9+c.seconds.Add(1), 0) }

// sized returns a function that makes a directory with one file of the given size.
func sized(bytes int) func(context.Context, string) error {
	return func(_ context.Context, path string) error {
		return errors.Join(os.Mkdir(path, 0o755), os.WriteFile(filepath.Join(path, "file"), make([]byte, bytes), 0o644))
	}
}

func fails(context.Context, string) error { return errors.New("it is made again") }

// standing returns the keys of the entries, the least recently used first, and their bytes.
func standing(t testing.TB, s *Store) string {
	t.Helper()
	var list []string
	for _, e := range kit.Get[[]Entry](t)(s.Entries()) {
		list = append(list, fmt.Sprintf("%s:%d", e.Key, e.Bytes))
	}
	return strings.Join(list, " ")
}

// TestStoreLimit checks that a store above its limit of bytes removes the least recently used entries, but
// none in use. A new store on the directory has the same sizes and times.
func TestStoreLimit(t *testing.T) {
	dir, now := t.TempDir(), new(clock)
	s := NewStore(dir, Options{Limits: Limits{Bytes: 250}, Now: now.now})
	add := func(key string) *Hold {
		t.Helper()
		return kit.Get[*Hold](t)(s.Add(t.Context(), key, sized(100)))
	}
	want := func(want string) {
		t.Helper()
		for _, s := range []*Store{s, NewStore(dir, Options{})} {
			if got := standing(t, s); got != want {
				t.Errorf("there is %q, want %q", got, want)
			}
		}
	}
	a, b := add("a"), add("b")
	b.Release()
	a.Release() // a was used last
	c := add("c")
	want("a:100 c:100")
	c.Release()
	a = kit.Get[*Hold](t)(s.Add(t.Context(), "a", fails)) // it is there
	if data := kit.Tree(t, a.Path); len(data["file"]) == 0 {
		t.Errorf("it has %v", data)
	}
	add("d")
	e := add("e")
	want("a:100 d:100 e:100") // all three are in use
	if s.Bytes() != 300 {
		t.Errorf("it has %d bytes", s.Bytes())
	}
	e.Release()
	e.Release() // again does nothing
	want("a:100 d:100 e:100")
	add("d")
	want("a:100 d:100")                                                                          // which are in use, as e is not
	if left, err := os.ReadDir(filepath.Dir(s.useLockPath("a"))); err != nil || len(left) != 3 { // the lock, and one for each entry
		t.Errorf("%v, %v", left, err)
	}
}

// TestEvict checks that entries that are too old or too much are removed, unless they are needed.
func TestEvict(t *testing.T) {
	now := new(clock)
	s := NewStore(t.TempDir(), Options{Now: now.now, IsKey: func(name string) bool { return name != "notes" }})
	kit.Must(t, os.Mkdir(s.Path("notes"), 0o755)) // is no entry
	for _, key := range []string{"needed", "old", "b", "c", "d"} {
		kit.Get[*Hold](t)(s.Add(t.Context(), key, sized(10))).Release()
		if key == "old" {
			now.seconds.Add(3600)
		}
	}
	needed := func(key string) bool { return key == "needed" }
	limits := Limits{Bytes: 35, Age: time.Hour}
	var surplus []string
	for _, e := range limits.Surplus(kit.Get[[]Entry](t)(s.Entries()), now.now(), needed) {
		surplus = append(surplus, e.Key)
	}
	done, err := s.Evict(limits, needed)
	if diff := cmp.Diff([]string{"old", "b"}, surplus); diff != "" || err != nil || done != (Eviction{2, 20, 30}) {
		t.Errorf("%v are surplus, %+v, %v", surplus, done, err)
	}
	if got := standing(t, s); got != "needed:10 c:10 d:10" {
		t.Error(got)
	}
	if done, err := s.Evict(Limits{Bytes: 5}, needed); err != nil || done != (Eviction{2, 20, 10}) {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := os.Stat(s.Path("notes")); err != nil {
		t.Error(err)
	}
}

// TestMeasured checks that an entry from an earlier run is measured and has its age.
func TestMeasured(t *testing.T) {
	s := NewStore(t.TempDir(), Options{})
	h := kit.Get[*Hold](t)(s.Add(t.Context(), "a", sized(15)))
	kit.Must(t, sized(7)(t.Context(), s.Path("before")))
	long := time.Unix(1e9, 0)
	kit.Must(t, os.Chtimes(s.Path("before"), long, long))
	if got := standing(t, s); got != "before:7 a:15" {
		t.Error(got)
	}
	if done, err := s.Evict(Limits{Age: time.Hour}, nil); err != nil || done != (Eviction{1, 7, 15}) {
		t.Errorf("%+v, %v", done, err)
	}
	h.Release()
}

// TestAddFails checks that a failed Add leaves nothing and can be repeated.
func TestAddFails(t *testing.T) {
	s := NewStore(t.TempDir(), Options{})
	half := errors.New("half")
	_, err := s.Add(t.Context(), "a", func(ctx context.Context, path string) error { return errors.Join(sized(10)(ctx, path), half) })
	if !errors.Is(err, half) || standing(t, s) != "" {
		t.Errorf("%v, and there is %q", err, standing(t, s))
	}
	if _, err := s.Get("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if left := kit.Tree(t, s.workPath("")); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
	kit.Get[*Hold](t)(s.Add(t.Context(), "a", sized(10))).Release()
	for _, key := range []string{"", ".", "..", ".trees", "../a", "a/b", "/a"} {
		if _, err := s.Add(t.Context(), key, sized(10)); err == nil {
			t.Errorf("%q is a key", key)
		}
	}
}

// TestRemains checks that unfinished entries of ended processes are removed, but not those that are being made.
func TestRemains(t *testing.T) {
	s := NewStore(t.TempDir(), Options{})
	for _, name := range []string{"new-dead", "new-unlocked", "new-alive", "old-dead"} {
		kit.Must(t, errors.Join(os.MkdirAll(s.workPath(""), 0o755), sized(10)(t.Context(), s.workPath(name))))
	}
	for _, name := range []string{"new-dead/lock", "gone.use"} {
		kit.Must(t, os.WriteFile(s.workPath(name), nil, 0o644))
	}
	alive := newLock(dirLockPath(s.workPath("new-alive")))
	kit.Must(t, alive.Lock())
	kit.Get[Eviction](t)(s.Evict(Limits{}, nil))
	var left []string
	for _, e := range kit.Get[[]os.DirEntry](t)(os.ReadDir(s.workPath(""))) {
		left = append(left, e.Name())
	}
	if diff := cmp.Diff([]string{"lock", "new-alive"}, left); diff != "" {
		t.Error(diff)
	}
	kit.Must(t, alive.Unlock())
}

// TestChecked checks that an entry of an earlier run is verified once, and again after Recheck. A damaged
// entry is made again. A new entry must have the hash that is its key.
func TestChecked(t *testing.T) {
	dir, checks := t.TempDir(), 0
	o := Options{Hash: func(path string) (string, error) {
		checks++
		return Hash(path)
	}}
	source := kit.Files(t, filepath.Join(t.TempDir(), "a"), map[string]string{"a": "1"})
	key, made := kit.Get[string](t)(Hash(source)), 0
	file := filepath.Join(dir, key, "a")
	add := func(s *Store) {
		t.Helper()
		kit.Get[*Hold](t)(s.Add(t.Context(), key, func(_ context.Context, path string) error {
			made++
			return os.CopyFS(path, os.DirFS(source))
		})).Release()
		if data, err := os.ReadFile(file); err != nil || string(data) != "1" {
			t.Errorf("it has the file %q, %v", data, err)
		}
	}
	want := func(wantMade, wantChecks int) {
		t.Helper()
		if made != wantMade || checks != wantChecks {
			t.Errorf("made %d times and checked %d times, want %d and %d", made, checks, wantMade, wantChecks)
		}
	}
	add(NewStore(dir, o))
	want(1, 1)
	s := NewStore(dir, o)
	add(s)
	add(s)
	want(1, 2)
	kit.Must(t, os.WriteFile(file, []byte("evil"), 0o644))
	s.Recheck(key)
	add(s)
	add(s)
	want(2, 4) // the damaged one, and what is made
	kit.Must(t, os.WriteFile(file, []byte("evil"), 0o644))
	add(NewStore(dir, o))
	want(3, 6)
	other := strings.Repeat("ab", 32)
	if _, err := s.Add(t.Context(), other, sized(1)); err == nil || !strings.Contains(err.Error(), "not "+other) || standing(t, s) != key+":1" {
		t.Errorf("files of another hash give %v, and there is %s", err, standing(t, s))
	}
}

// TestAddCancelled checks that canceling one of several calls that wait for an entry does not cancel the others.
func TestAddCancelled(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(dir, Options{})
		first, cancel := context.WithCancel(t.Context())
		add := func(ctx context.Context) <-chan error {
			ended := make(chan error, 1)
			go func() {
				_, err := s.Add(ctx, "a", func(ctx context.Context, path string) error {
					if ctx == first {
						<-ctx.Done()
						return errors.New("interrupted")
					}
					return sized(1)(ctx, path)
				})
				ended <- err
			}()
			synctest.Wait()
			return ended
		}
		one, two := add(first), add(t.Context())
		if len(two) > 0 {
			t.Error("the other does not wait for the same")
		}
		cancel()
		if err := <-one; !errors.Is(err, context.Canceled) {
			t.Errorf("who was cancelled gets %v", err)
		}
		if err := <-two; err != nil {
			t.Errorf("the other gets %v", err)
		}
	})
}

// TestStoresTogether checks that no file of an entry in use is missing while several stores on one directory
// make, use and evict the same entries.
func TestStoresTogether(t *testing.T) {
	dir := t.TempDir()
	var made atomic.Int64
	var users sync.WaitGroup
	for i := range 4 {
		s := NewStore(dir, Options{Limits: Limits{Bytes: 250}})
		for j := range 2 {
			users.Go(func() {
				for n := 0; n < 50 && !t.Failed(); n++ {
					key := fmt.Sprint((i + j + n) % 5)
					h, err := s.Add(t.Context(), key, func(ctx context.Context, path string) error {
						made.Add(1)
						return sized(100)(ctx, path)
					})
					if err != nil {
						t.Error(err)
						return
					}
					if data, err := os.ReadFile(filepath.Join(h.Path, "file")); err != nil || len(data) != 100 {
						t.Errorf("%d bytes, %v", len(data), err)
					}
					h.Release()
				}
			})
		}
	}
	users.Wait()
	t.Logf("%d were made", made.Load())
	if made.Load() < 10 {
		t.Error("nothing was removed meanwhile")
	}
	done, err := NewStore(dir, Options{}).Evict(Limits{Bytes: 250}, nil)
	if err != nil || done.RemainingBytes > 200 {
		t.Errorf("%+v, %v", done, err)
	}
}
