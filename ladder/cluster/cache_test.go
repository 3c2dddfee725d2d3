package cluster

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/bundle"
)

func testCache(t *testing.T, dir string, most int64) *cache {
	t.Helper()
	return kit.Get[*cache](t)(openCache(dir, most, slog.New(slog.DiscardHandler)))
}

// sized makes the files of a bot with so many bytes, and returns their hash and what gets them.
func sized(t *testing.T, name string, bytes int) (tree string, get func(context.Context, string) error) {
	t.Helper()
	dir := kit.Files(t, filepath.Join(t.TempDir(), name), map[string]string{"bot.sh": name + strings.Repeat("x", bytes-len(name))})
	tree = kit.Get[string](t)(hashTree(dir))
	return tree, func(_ context.Context, into string) error {
		return unpackTree(packed(t, dir), into, bundle.MaxBuiltFiles, bundle.MaxBuilt)
	}
}

// packed returns the packed files of a directory.
func packed(t *testing.T, dir string) io.Reader {
	t.Helper()
	var b bytes.Buffer
	kit.Must(t, packTree(&b, dir))
	return &b
}

// Beyond the size of a cache those bots go that were not used for the longest time, but none
// that plays.
func TestCacheEviction(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := testCache(t, dir, 250)
	use := func(name string) (there string, done func()) {
		t.Helper()
		tree, get := sized(t, name, 100)
		there, done, err := c.use(t.Context(), tree, get)
		kit.Must(t, err)
		return there, done
	}
	there := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	a, doneA := use("a")
	b, doneB := use("b")
	doneB()
	doneA() // a was used last
	_, doneC := use("c")
	if !there(a) || there(b) {
		t.Errorf("a is there: %t, b is there: %t; b was not used for longer", there(a), there(b))
	}
	doneC()
	again, doneA := use("a")
	d, doneD := use("d")
	e, doneE := use("e")
	if again != a || !there(a) || !there(d) || !there(e) {
		t.Error("a bot that plays is gone")
	}
	if c.bytes() != 300 {
		t.Errorf("it has %d bytes, want those of the three that play", c.bytes())
	}
	doneA()
	doneD()
	doneE()
	if c.bytes() > 250 {
		t.Errorf("it has %d bytes when nothing plays", c.bytes())
	}
	if left := testCache(t, dir, 250); left.bytes() != c.bytes() {
		t.Errorf("the next run finds %d bytes, not %d", left.bytes(), c.bytes())
	}
}

// What is in the cache is verified: files that have changed are fetched again, and files that
// are not those of the hash are refused.
func TestCacheVerifies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree, get := sized(t, "a", 100)
	path, done, err := testCache(t, dir, 1000).use(t.Context(), tree, get)
	kit.Must(t, err)
	done()
	file := filepath.Join(path, "bot.sh")
	kit.Must(t, errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("evil"), 0o600)))
	fetched := 0
	c := testCache(t, dir, 1000)
	for range 2 {
		_, done, err := c.use(t.Context(), tree, func(ctx context.Context, into string) error {
			fetched++
			return get(ctx, into)
		})
		kit.Must(t, err)
		done()
	}
	if got, err := hashTree(path); fetched != 1 || err != nil || got != tree {
		t.Errorf("it was fetched %d times and has the hash %s, %v", fetched, got, err)
	}
	other, _ := sized(t, "b", 100)
	if _, _, err := c.use(t.Context(), other, get); err == nil {
		t.Error("the files of another bot are taken")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "new-*")); len(left) > 0 {
		t.Errorf("%v stay", left)
	}
}

// Files come out of an archive as they went in, links and modes included.
func TestTree(t *testing.T) {
	t.Parallel()
	dir := kit.Files(t, filepath.Join(t.TempDir(), "bot"), map[string]string{"run": "#!/bin/sh\n", "lib/a.py": "a = 1\n"})
	kit.Must(t, errors.Join(os.Chmod(filepath.Join(dir, "run"), 0o755), os.Symlink("/usr/bin/python3", filepath.Join(dir, "python")), os.Symlink("lib", filepath.Join(dir, "link"))))
	into := filepath.Join(t.TempDir(), "out")
	kit.Must(t, unpackTree(packed(t, dir), into, bundle.MaxBuiltFiles, bundle.MaxBuilt))
	want, err := hashTree(dir)
	kit.Must(t, err)
	if got, err := hashTree(into); err != nil || got != want {
		t.Errorf("it has the hash %s, not %s, %v", got, want, err)
	}
	info, err := os.Stat(filepath.Join(into, "run"))
	if err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("run has the mode %v, %v", info.Mode(), err)
	}
}

// More than is kept of a build is not unpacked.
func TestTreeLimit(t *testing.T) {
	t.Parallel()
	dir := kit.Files(t, filepath.Join(t.TempDir(), "bot"), map[string]string{"a": "12345", "b": "12345", "lib/c": ""})
	for _, test := range []struct {
		files int
		bytes int64
		fits  bool
	}{{4, 10, true}, {3, 10, false}, {4, 9, false}} {
		err := unpackTree(packed(t, dir), filepath.Join(t.TempDir(), "out"), test.files, test.bytes)
		if (err == nil) != test.fits || err != nil && !strings.Contains(err.Error(), "files") {
			t.Errorf("4 files of 10 bytes, where %d of %d are the most, give %v", test.files, test.bytes, err)
		}
	}
	out := filepath.Join(t.TempDir(), "large")
	if err := unpackTree(largeTree(t), out, bundle.MaxBuiltFiles, bundle.MaxBuilt); err == nil || !strings.Contains(err.Error(), "files") {
		t.Errorf("a file of more than is kept of a build gives %v", err)
	}
	if err := unpackTree(strings.NewReader("junk"), filepath.Join(t.TempDir(), "junk"), 10, 1<<20); err == nil {
		t.Error("junk is unpacked")
	}
	if err := unpackTree(io.LimitReader(packed(t, dir), 50), filepath.Join(t.TempDir(), "cut"), 10, 1<<20); err == nil {
		t.Error("half of an archive is unpacked")
	}
}

// largeTree returns a packed archive that says that its only file is larger than all of a build may be.
func largeTree(t *testing.T) io.Reader {
	t.Helper()
	var b bytes.Buffer
	z := kit.Get[*zstd.Encoder](t)(zstd.NewWriter(&b))
	kit.Must(t, tar.NewWriter(z).WriteHeader(&tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: bundle.MaxBuilt + 1}))
	kit.Must(t, z.Close())
	return &b
}
