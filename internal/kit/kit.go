// Package kit has the helpers that all tests share: files, golden files, output of programs, and waiting. It
// imports no other package of this module.
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
		t.Helper() // only here, because it is slow and benchmarks call Must
		t.Fatal(err)
	}
}

// Get returns a function that takes the two results of a call and returns the first one, v. That function fails the
// test if err is not nil. Use it as kit.Get[V](t)(f()).
func Get[V any](t T) func(v V, err error) V {
	return func(v V, err error) V {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return v
	}
}

// Slow skips the test if go test runs with the flag -short, as in `make check`. Call it in tests that take long or
// start processes, servers or browsers.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by make check: tests that start processes, servers or browsers, or take long")
	}
}

// Needs skips the test if the executable file called program is not in the PATH.
func Needs(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		Lacks(t, program)
	}
}

// HasRaceDetector reports whether this test binary was built with the race detector.
func HasRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// Lacks skips the test because this machine lacks something that the test needs, such as a program or a permission;
// what names it. script/test prints which tests were skipped and why.
func Lacks(t testing.TB, what string) {
	t.Helper()
	t.Skip("this machine lacks " + what)
}

// Pages returns the paths of the project's Markdown pages in root itself, in root/docs and in root/lab. The paths are
// relative to root and have slashes.
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

// Files writes files into the directory dir, which it creates if necessary, and returns dir. files maps names to
// contents. A name may contain directories. If a name ends in "+x", the file is executable and its name is the rest.
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

// Tree returns a text for each file and directory below dir, by its path with slashes. For a regular file, the text
// is its mode, a space and its content; for anything else, it is the mode.
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

// Until waits until holds returns true. If that does not happen, it fails the test ten seconds before the deadline of
// the test run, so that a slow machine alone does not fail it. what names the event in the failure message.
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

// Wait waits until the channel done is closed or has a value. If neither happens, it fails the test ten seconds
// before the deadline of the test run. what names the event in the failure message.
func Wait[T any](t testing.TB, what string, done <-chan T) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Until(last(t))):
		t.Fatalf("until the end of the test run not: %s", what)
	}
}

// last returns the time at which a wait must end: ten seconds before the test's deadline, so that the failure can
// still be printed. If the test has no deadline, it is one hour from now.
func last(t testing.TB) time.Time {
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ok := d.Deadline(); ok {
			return end.Add(-10 * time.Second)
		}
	}
	return time.Now().Add(time.Hour)
}

// Forward listens at an address of this machine, which it returns, and forwards connections to a server. The caller
// sets the address of the server by calling to, the function that Forward returns. While that address is "", new
// connections are closed at once, but existing ones go on. Forward is for a server that restarts at another port,
// because another program might take its old port meanwhile.
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

// start is the current directory at the start of the test binary. It is stored because a test may change the current
// directory.
var start, _ = os.Getwd()

// Updating reports whether golden files are being rewritten, by the flag -update.
func Updating() bool { return *update }

// Golden fails the test unless got equals the content of the file called name in the directory testdata. With the
// flag -update it writes got to that file instead.
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

// Output is a writer that collects what a program or a log writes. It is safe for concurrent use.
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

// String returns everything written since the last Reset.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Reset discards everything written so far.
func (o *Output) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Reset()
}
