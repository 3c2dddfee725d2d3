// Package binaries gives tests the programs of this module that they start.
package binaries

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const module = "github.com/timba-arena/timba/"

// packages are the programs by name, and the packages that they are built from.
var packages = map[string]string{
	"timba":     module + "cmd/timba",
	"timba-lab": module + "cmd/timba-lab",
	"misbehave": module + "sample-bots/misbehave",
	"bot":       module + "referee/internal/script/bot",
}

// EnvBin names a directory with the programs, as script/test builds them once for all packages.
// Its value and the sources of each program count for Go's cache of test results.
const EnvBin = "TIMBA_BIN"

// Program returns the path of a program without the race detector, which every user can run. It
// is in the directory $TIMBA_BIN; without that, it is built once in this process, and Clean
// removes it. A change to the program's sources makes the test run anew. Make check leaves out a test
// that needs a program.
func Program(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by make check: tests that start processes, servers or browsers, or take long")
	}
	if packages[name] == "" {
		t.Fatalf("binaries.Program: there is no program %q", name)
	}
	mu.Lock()
	defer mu.Unlock()
	p := programs[name]
	if p == nil {
		p = &program{}
		if p.err = depend(packages[name]); p.err == nil {
			p.path, p.err = provide(name)
		}
		programs[name] = p
	}
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.path
}

type program struct {
	path string
	err  error
}

var (
	mu       sync.Mutex
	programs = map[string]*program{}
	built    string // the directory of what this process has built
	cleaned  bool   // somebody removes it
)

// tests are what testing.M is.
type tests interface{ Run() int }

type cleaning struct{ tests }

// Clean returns the tests of a package so that what Program has built is removed after them. The
// TestMain of each package that calls Program needs it. The programs that tests start do not ignore
// SIGHUP, as they would in a run under nohup.
func Clean(m tests) tests {
	cleaned = true
	return cleaning{m}
}

// Run runs the tests.
func (c cleaning) Run() int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // what is caught here is not ignored by a child
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		if built != "" {
			os.RemoveAll(built)
		}
	}()
	return c.tests.Run()
}

// Dependencies returns the import paths of all packages that each package of this module depends on, by its own.
func Dependencies(t testing.TB) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[words[0]] = words[1:]
	}
	return all
}

// depend looks at the sources of a package of this module and of those that it imports. The go
// command records which files a test looks at, and runs it anew when one of them has changed; it
// does not see what a go command in the test reads.
func depend(pkg string) error {
	const format = `{{with .Module}}{{if .Main}}{{$.Dir}}{{range $.GoFiles}}|{{.}}{{end}}{{range $.EmbedFiles}}|{{.}}{{end}}{{end}}{{end}}`
	cmd := exec.Command("go", "list", "-deps", "-f", format, pkg)
	var failure strings.Builder
	cmd.Stderr = &failure
	list, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", cmd, err, &failure)
	}
	for line := range strings.Lines(string(list)) {
		names := strings.Split(strings.TrimSpace(line), "|")
		if names[0] == "" {
			continue
		}
		for _, name := range slices.Insert(names[1:], 0, ".") { // the directory shows new files
			if _, err := os.Stat(filepath.Join(names[0], name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// provide finds or builds a program.
func provide(name string) (string, error) {
	if dir := os.Getenv(EnvBin); dir != "" {
		path := filepath.Join(dir, name)
		_, err := os.Stat(path)
		return path, err
	}
	if !cleaned {
		return "", fmt.Errorf("binaries.Program(%q): the package's TestMain does not call binaries.Clean", name)
	}
	if built == "" {
		dir, err := os.MkdirTemp("", "programs-")
		if err != nil {
			return "", err
		}
		built = dir
		if err := os.Chmod(dir, 0o755); err != nil {
			return "", err
		}
	}
	path := filepath.Join(built, name)
	cmd := exec.Command("go", "build", "-race=false", "-o", path, packages[name])
	cmd.Env = append(os.Environ(), "TMPDIR="+built, "CGO_ENABLED=0") // as script/test builds it
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	return path, nil
}
