// Package kit is what all tests share: files, golden files, output of programs, waiting.
// It imports nothing else of this module.
package kit

import (
	"bytes"
	"flag"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// T is a testing.TB or a *rapid.T.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Must fails the test if err is not nil.
func Must(t T, err error) {
	if err != nil {
		t.Helper() // only now: it takes long, and benchmarks come here
		t.Fatal(err)
	}
}

// Get returns a function that returns its first argument, and fails the test if its second is not
// nil: kit.Get[V](t)(f()).
func Get[V any](t T) func(v V, err error) V {
	return func(v V, err error) V {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return v
	}
}

// Slow skips a test in `make check`: one that starts processes, a server or a browser, or that takes
// long.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by make check: tests that start processes, servers or browsers, or take long")
	}
}

// Needs skips a test on a machine where a program is not installed. script/test installs all that
// tests need.
func Needs(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		Lacks(t, program)
	}
}

// HasRaceDetector reports whether the race detector is in this test binary.
func HasRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// Lacks skips a test on a machine that does not have what it needs: a program, a right. script/test
// tells which tests have been left out and why.
func Lacks(t testing.TB, what string) {
	t.Helper()
	t.Skip("this machine lacks " + what)
}

// Pages returns the pages for people below a root, with slashes: those at the top, and all of docs and lab.
func Pages(root string) (pages []string, err error) {
	for _, pattern := range []string{"*.md", "docs/*.md", "lab/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, page := range found {
			rel, err := filepath.Rel(root, page)
			if err != nil {
				return nil, err
			}
			pages = append(pages, filepath.ToSlash(rel))
		}
	}
	return pages, nil
}

// Files makes dir and writes files by name into it. A name may have directories
// in it; one that ends in "+x" is written without that, and is executable.
func Files(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	Must(t, os.MkdirAll(dir, 0o755))
	for name, text := range files {
		name, run := strings.CutSuffix(name, "+x")
		path, mode := filepath.Join(dir, name), os.FileMode(0o644)
		if run {
			mode = 0o755
		}
		Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		Must(t, os.WriteFile(path, []byte(text), mode))
	}
	return dir
}

// Tree returns all that is in dir by its path, with slashes: the mode, and of files the content.
func Tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	found, in := map[string]string{}, os.DirFS(dir)
	Must(t, fs.WalkDir(in, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		found[path] = Get[fs.FileInfo](t)(d.Info()).Mode().String()
		if d.Type().IsRegular() {
			found[path] += " " + string(Get[[]byte](t)(fs.ReadFile(in, path)))
		}
		return nil
	}))
	return found
}

// Until waits for a condition. Only the deadline of the test run ends the wait, so that a busy
// machine does not fail a test: what is wanted must come in the end, or the test hangs.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	last := last(t)
	for pause := time.Millisecond; !holds(); pause = min(2*pause, 32*time.Millisecond) {
		if time.Now().After(last) {
			t.Fatalf("until the end of the test run not: %s", what)
		}
		time.Sleep(pause)
	}
}

// Wait waits for a channel to be closed, as long as Until.
func Wait[T any](t testing.TB, what string, done <-chan T) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Until(last(t))):
		t.Fatalf("until the end of the test run not: %s", what)
	}
}

// last returns when a wait must end, so that there is time to say what did not come.
func last(t testing.TB) time.Time {
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ok := d.Deadline(); ok {
			return end.Add(-10 * time.Second)
		}
	}
	return time.Now().Add(time.Hour)
}

// Forward listens at an address of this machine that stays while a server behind it starts again at
// another port: the port of a server that has stopped may be another program's at once. Connections
// lead to the server's address, which to sets; they end while it is "".
func Forward(t testing.TB) (address string, to func(server string)) {
	t.Helper()
	l := Get[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { l.Close() })
	var server atomic.Value
	carry := func(near net.Conn) {
		defer near.Close()
		address, _ := server.Load().(string)
		far, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		defer far.Close()
		go func() {
			io.Copy(far, near)
			far.Close()
		}()
		io.Copy(near, far)
	}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go carry(near)
		}
	}()
	return l.Addr().String(), func(address string) { server.Store(address) }
}

var update = flag.Bool("update", false, "write the golden files anew")

var start, _ = os.Getwd() // of the test binary: a test may change its directory

// Updating reports whether golden files are written anew: the flag -update.
func Updating() bool { return *update }

// Golden fails the test unless got equals the file with this name in testdata.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join(start, "testdata", name)
	if *update {
		Files(t, filepath.Dir(path), map[string]string{filepath.Base(path): got})
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run the test with -update to write it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-file +now); if that is right, run the test with -update\n%s", path, diff)
	}
}

// Output is what a program or a log has written so far. Several goroutines may write and read it.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns what has been written.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Reset forgets what has been written.
func (o *Output) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Reset()
}
