// Package binaries builds the programs of this module that tests start.
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

// packages has the import path of each program.
var packages = map[string]string{
	"timba":     module + "cmd/timba",
	"timba-lab": module + "cmd/timba-lab",
	"misbehave": module + "sample-bots/misbehave",
	"bot":       module + "referee/internal/script/bot",
}

// EnvBin is an environment variable whose value is a directory with the programs that tests start. script/test builds
// them there once for all packages. The go command runs a test again, instead of using its cached result, if the
// value or the source of a program changes.
const EnvBin = "TIMBA_BIN"

// Program returns the path of the program called name, which tests can start. Every user may run the program, and it
// is built without the race detector. It is in the directory $TIMBA_BIN or, if that is not set, Program builds it
// once in this process, and Clean removes it. Program fails the test if there is no such program or the build fails.
// It skips the test in `make check`.
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
		if p.err = statSources(packages[name]); p.err == nil {
			p.path, p.err = findOrBuild(name)
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
	builtDir string // directory of the programs that this process has built
	cleaned  bool   // Clean was called
)

// testRunner is implemented by *testing.M.
type testRunner interface{ Run() int }

type cleaning struct{ testRunner }

// Clean wraps m, the tests of a package, so that the programs that Program has built are removed after the tests. A
// package whose tests call Program must call Clean in TestMain. Clean also ensures that programs that tests start do
// not ignore SIGHUP, as they would under nohup.
func Clean(m testRunner) testRunner {
	cleaned = true
	return cleaning{m}
}

// Run runs the tests and then removes the programs that they have built.
func (c cleaning) Run() int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // a child does not ignore a signal that is caught here
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		if builtDir != "" {
			os.RemoveAll(builtDir)
		}
	}()
	return c.testRunner.Run()
}

// Dependencies maps the import path of each package of this module to the import paths of all packages that it
// depends on, directly or indirectly. It fails the test if the go command fails.
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

// statSources calls os.Stat for the source files of the package pkg and of all packages of this module that it
// imports. The go command records which files a test looks at, and runs the test again if one has changed. Without
// these calls it would not know the files, because another go command reads them.
func statSources(pkg string) error {
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
		for _, name := range slices.Insert(names[1:], 0, ".") { // the directory itself shows new files
			if _, err := os.Stat(filepath.Join(names[0], name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// findOrBuild returns the path of a program. It looks in the directory $TIMBA_BIN or, if that is not set, builds the
// program in a temporary directory.
func findOrBuild(name string) (string, error) {
	if dir := os.Getenv(EnvBin); dir != "" {
		path := filepath.Join(dir, name)
		_, err := os.Stat(path)
		return path, err
	}
	if !cleaned {
		return "", fmt.Errorf("binaries.Program(%q): the package's TestMain does not call binaries.Clean", name)
	}
	if builtDir == "" {
		dir, err := os.MkdirTemp("", "programs-")
		if err != nil {
			return "", err
		}
		builtDir = dir
		if err := os.Chmod(dir, 0o755); err != nil {
			return "", err
		}
	}
	path := filepath.Join(builtDir, name)
	cmd := exec.Command("go", "build", "-race=false", "-o", path, packages[name])
	cmd.Env = append(os.Environ(), "TMPDIR="+builtDir, "CGO_ENABLED=0") // as script/test builds it
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	return path, nil
}
