package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/proc"
	"github.com/timba-arena/timba/ladder/fleet/fleettest"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/systemd"
)

// TestMain makes the test binary run as timba, also as a house bot.
func TestMain(m *testing.M) {
	sandbox.MaybeInit(systemd.Delegate)
	// A match of this process starts house bots, the benchmark in Python starts timba env.
	if len(os.Args) > 1 && slices.Contains([]string{"bot", "env"}, os.Args[1]) {
		os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) == 3 && os.Args[1] == fleettest.Mode { // a NATS server beside timba
		if err := fleettest.Main(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	database.NoSync = true
	checkDefaults.Grace = time.Hour
	testscript.Main(proc.Clean(m), map[string]func(){
		"timba": func() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the scripts of testdata/script, each in its own directory.
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script")
}

// runScripts runs the scripts of a directory.
func runScripts(t *testing.T, dir string) {
	kit.Slow(t)
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		UpdateScripts:       kit.Updating(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			e.Setenv("HOME", os.Getenv("HOME")) // version managers look there for interpreters
			e.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "sandboxed" { // bots are, at least by namespaces
				return sandbox.Probe().Level >= sandbox.Reduced, nil
			}
			return false, fmt.Errorf("condition %q does not exist", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "same": same, "json": members, "screen": screen},
	})
}

// exits STATUS COMMAND ARG... runs a command and requires its exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d\n%s%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

var (
	times   = regexp.MustCompile(`"(ms|seconds)": ?[0-9.e+-]+`)
	credits = regexp.MustCompile(`(?m),\s*"credit(_ms)?": ?[0-9.e+-]+|^credit, .*\n`)
)

// timeless returns a document without what may differ when a match is played again: times, and
// the credit that bots had because the machine was busy.
func timeless(document []byte) string {
	return times.ReplaceAllString(credits.ReplaceAllString(string(document), ""), `"$1":0`)
}

// same DIR DIR requires two directories of games to be the same except for times.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	if diff := cmp.Diff(tree(ts, args[0]), tree(ts, args[1])); diff != "" {
		ts.Fatalf("%s and %s differ:\n%s", args[0], args[1], diff)
	}
}

// tree returns a directory's files by path, without times.
func tree(ts *testscript.TestScript, dir string) map[string]string {
	files, root := map[string]string{}, ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, root)] = timeless(data)
		return err
	}))
	return files
}

// members FILE MEMBER... requires a file to be one JSON object with exactly these members.
func members(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: json FILE MEMBER...")
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &object); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	got, want := slices.Sorted(maps.Keys(object)), slices.Sorted(slices.Values(args[1:]))
	if !slices.Equal(got, want) {
		ts.Fatalf("%s has the members %q, want %q", args[0], got, want)
	}
}
